"""Which `gate.control` to choose: runs of 30 edits in the mixed world, some of which help, under each of the three."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import get_args

import msgspec

from benchmarks.claims import Claim, Part, tell
from benchmarks.gates.lane import follow
from benchmarks.gates.mixed import Share, chances_of, changed
from skillopt.domain.evidence.alpha import Control, Spending
from skillopt.domain.evidence.terms import Terms
from skillopt.domain.seeds import dice

_FIRST_SEED = 60_000  # no seed from here on was looked at while the test was made
_RUNS, _EDITS, _HELPFUL, _TASKS = 60, 30, 5, 40
_ARMS: tuple[Share, ...] = ("no-op", "fix 20 %", "fix 10 %")


class Lived(msgspec.Struct, frozen=True, kw_only=True):
    """What a run of edits came to: the no-ops and the fixes it kept, its true score at the end, and its calls."""

    useless: int
    useful: int
    score: float
    calls: int


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What runs with some fixes came to on average."""

    fixes_kept: float
    no_ops_kept: float
    true_final_score: float
    calls_a_run: int


def measure() -> Claim:
    """Run with no fix, with a few large ones, and with as many small ones, under each control."""
    seeds = range(_FIRST_SEED, _FIRST_SEED + _RUNS)
    found: dict[Control, dict[Share, list[Lived]]] = {
        control: {share: [_run(control, share, seed) for seed in seeds] for share in _ARMS}
        for control in get_args(Control)
    }
    return Claim(
        name="gate_control",
        bar=6,
        unit="share of runs of 30 no-ops that ship any, under control over the run",
        parts=(Part("run", _shipping(found["run"]["no-op"]), "<=", 0.05),),
        detail={
            "runs_each": _RUNS,
            "fixes_in_a_run": _HELPFUL,
            **{control: _arms(by) for control, by in found.items()},
        },
    )


def _arms(by: Mapping[Share, Sequence[Lived]]) -> Mapping[str, float | Told]:
    told: dict[str, float | Told] = {share: _told(by[share]) for share in _ARMS[1:]}
    return {"ship_any_of_30_no_ops": round(_shipping(by["no-op"]), 3), **told}


def _told(runs: Sequence[Lived]) -> Told:
    return Told(
        fixes_kept=round(statistics.mean(run.useful for run in runs), 2),
        no_ops_kept=round(statistics.mean(run.useless for run in runs), 2),
        true_final_score=round(statistics.mean(run.score for run in runs), 3),
        calls_a_run=round(statistics.mean(run.calls for run in runs)),
    )


def _shipping(runs: Sequence[Lived]) -> float:
    return statistics.mean(run.useless > 0 for run in runs)


def _run(control: Control, share: Share, seed: int) -> Lived:
    helpful = 0 if share == "no-op" else _HELPFUL
    draw = dice("control", seed, share)
    chances = chances_of("mixed", _TASKS, draw)
    spending = Spending(control=control, horizon=_EDITS)
    fixes = set(draw.sample(range(1, _EDITS + 1), helpful))
    known: list[int] | None = None
    accepts: list[int] = []
    useful = calls = 0
    for number in range(1, _EDITS + 1):
        if known is None:
            known = [sum(draw.random() < chance for _ in range(3)) for chance in chances]
        after = changed(chances, share if number in fixes else "no-op", draw)
        terms = Terms(order=tuple(range(_TASKS)), alpha=spending.at(number, accepts))
        finding, asked = follow(known, after, terms, draw)
        calls += asked
        if finding.kind == "accept":
            accepts.append(number)
            useful += number in fixes
            chances, known = after, None
    return Lived(useless=len(accepts) - useful, useful=useful, score=statistics.mean(chances), calls=calls)


if __name__ == "__main__":
    tell(measure())
