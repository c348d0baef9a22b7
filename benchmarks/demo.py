"""Bar 9: from installed to a finished demo, without key and network, with its report and the next command."""

from __future__ import annotations

import statistics

from benchmarks.claims import Claim, Part, rounded, tell
from benchmarks.fresh import Ran, run, skillopt
from benchmarks.workspace import folder

_ROUNDS = 3
_MUST_SECONDS = 2.0
_LAST_LINES = 3


def measure() -> Claim:
    """Run the demo in an empty folder a few times; one that does not end well has no figure."""
    rounds = [_demo() for _ in range(_ROUNDS)]
    worked = all(ran.code == 0 for ran in rounds)
    return Claim(
        name="demo",
        bar=9,
        unit="s",
        parts=(Part("wall", statistics.median(ran.wall for ran in rounds) if worked else None, "<", _MUST_SECONDS),),
        detail={
            "rounds": rounded(ran.wall for ran in rounds),
            "exit_codes": [ran.code for ran in rounds],
            "said_last": rounds[-1].output.splitlines()[-_LAST_LINES:],
        },
    )


def _demo() -> Ran:
    with folder() as path:
        return run(skillopt("demo", "--keep", "demo"), folder=path)


if __name__ == "__main__":
    tell(measure())
