"""Bar 10: what `import skillopt` and `skillopt --help` take in a fresh interpreter, its own start included."""

from __future__ import annotations

from benchmarks.claims import Claim, Part, tell
from benchmarks.fresh import python, run_well, skillopt

_TIMES = 20
_MUST_MS = 100.0
_COMMANDS = {
    "nothing": python("-c", ""),
    "import": python("-c", "import skillopt"),
    "help": skillopt("--help"),
}


def measure() -> Claim:
    """Start each program so many times, by turns, and keep the best."""
    walls: dict[str, list[float]] = {name: [] for name in _COMMANDS}
    for _ in range(_TIMES):
        for name, command in _COMMANDS.items():
            walls[name].append(run_well(command).wall * 1000)
    best = {name: min(each) for name, each in walls.items()}
    return Claim(
        name="startup",
        bar=10,
        unit="ms",
        parts=tuple(Part(name, best[name], "<", _MUST_MS) for name in ("import", "help")),
        detail={
            "best_of": _TIMES,
            "worst": {name: round(max(each), 1) for name, each in walls.items()},
            "interpreter_alone": round(best["nothing"], 1),
        },
    )


if __name__ == "__main__":
    tell(measure())
