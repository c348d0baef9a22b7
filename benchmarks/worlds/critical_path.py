"""Bar 3: the wall of a whole run over HTTP against its longest chain of dependent calls, and how busy the slots were.
The chain knows no slots; where these bind, as at 8 workers, the detail also holds the wall against what they allow.
Chain and utilisation count answers that the run used; what was guessed for nothing is told apart."""

from __future__ import annotations

import statistics
from pathlib import Path

import msgspec

from benchmarks.claims import Claim, Part, rounded, tell
from benchmarks.workspace import folder, prepared, stub, write_project
from benchmarks.worlds.chain import Chain, in_turn, longest_chain
from benchmarks.worlds.training import Trained, trained

_TRAIN, _VAL, _TEST = 80, 40, 40
_MORE = {"train": {"epochs": 2, "batch_size": 20}, "stop": {"when": "never"}}
_LATENCY = {"target": 0.25, "optimizer": 1.0}
_WIDTHS = (8, 24, 128)
_ROUNDS = 1
_GUESSES = 200
_MUST = 1.15
_BAR_WIDTH = 24


class _Row(msgspec.Struct, frozen=True, kw_only=True):
    """The runs of one width: seconds, and these over three bounds.

    `chain` knows no slots; `ideal` is the chain, or all work spread evenly over the slots if that takes longer; no run
    can be faster. `phases` is all phases in turn, as a run takes that begins nothing before the phase it belongs to.
    """

    seconds: list[float]
    over_the_chain: float
    over_the_ideal: float
    over_the_phases: float
    utilisation: float
    guessed_in_vain: int


class _Measured(msgspec.Struct, frozen=True, kw_only=True):
    """What all widths came to."""

    chain: Chain
    rows: dict[str, _Row]
    strict: dict[str, _Row]
    digests: set[str]


def measure() -> Claim:
    """Run each width without guesses and with some, and once with one worker for the bytes alone; then `strict`.

    The bar is for the run that may guess: without guesses, what a paired gate asks after an accept (40 tasks, three
    times) fills 24 slots for five rounds, while the step beside it needs four.
    """
    with folder() as path:
        found = _measure(path)
    return Claim(
        name="critical_path",
        bar=3,
        unit=f"wall / longest chain at {_BAR_WIDTH} workers, up to {_GUESSES} guesses; different results",
        parts=(
            Part("wall", found.rows[_named(_BAR_WIDTH, _GUESSES)].over_the_chain, "<=", _MUST),
            Part("results", float(len(found.digests)), "<=", 1.0),
        ),
        detail={"latency": _LATENCY, "chain": found.chain, "workers": found.rows, "strict": found.strict},
    )


def _measure(path: Path) -> _Measured:
    rows: dict[str, _Row] = {}
    strict: dict[str, _Row] = {}
    digests: set[str] = set()
    chain = Chain()
    with stub(latency=_LATENCY["target"], optimizer_latency=_LATENCY["optimizer"]) as server:
        config = write_project(path, server.base_url, train=_TRAIN, val=_VAL, test=_TEST, more=_MORE)
        for guesses in (0, _GUESSES):
            for width in _WIDTHS:
                runs = [_run(config, width, guesses, number) for number in range(_ROUNDS)]
                chain = longest_chain(runs[0].events, _LATENCY)
                rows[_named(width, guesses)] = _row(runs, width, chain)
                digests |= {run.digest for run in runs}
            run = _run(config, _BAR_WIDTH, guesses, 0, rule="strict")
            strict[_named(_BAR_WIDTH, guesses)] = _row([run], _BAR_WIDTH, longest_chain(run.events, _LATENCY))
    return _Measured(chain=chain, rows=rows, strict=strict, digests=digests | {_alone(path / "alone")})


def _named(width: int, guesses: int) -> str:
    return f"{width}, {guesses} guesses" if guesses else f"{width}"


def _run(config: Path, width: int, guesses: int, number: int, *, rule: str = "paired") -> Trained:
    sets = (f"limits.speculation={guesses}", f"gate.rule={rule}")
    return trained(prepared(config, workspace=f"{rule}-{width}-{guesses}-{number}", concurrency=width, sets=sets))


def _row(runs: list[Trained], width: int, chain: Chain) -> _Row:
    phases = in_turn(runs[0].events, _LATENCY, width)
    seconds = statistics.median(run.seconds for run in runs)
    work = sum(_LATENCY[role] * calls for role, calls in runs[0].calls.items())
    return _Row(
        seconds=rounded(run.seconds for run in runs),
        over_the_chain=round(seconds / chain.seconds, 4),
        over_the_ideal=round(seconds / max(chain.seconds, work / width), 4),
        over_the_phases=round(seconds / phases, 4),
        utilisation=round(work / (seconds * width), 4),
        guessed_in_vain=max(run.summary.usage.overhead.speculative for run in runs),
    )


def _alone(path: Path) -> str:
    """Return the bytes of the same run with one worker, on a stub that answers at once."""
    path.mkdir()
    with stub() as server:
        config = write_project(path, server.base_url, train=_TRAIN, val=_VAL, test=_TEST, more=_MORE)
        return _run(config, 1, 0, 0).digest


if __name__ == "__main__":
    tell(measure())
