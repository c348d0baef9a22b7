"""What a run comes to: its summary, folded from its view and from what was sent.
Owns how the numbers are added up; refuses to know files and where they are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec

from skillopt.domain.usage import NOTHING
from skillopt.kernel.events import Measured
from skillopt.kernel.journal import Spent
from skillopt.kernel.view import RunView
from skillopt.train.epochs import epoch_rows
from skillopt.train.history import history, kind_of
from skillopt.train.summary import (
    Overhead,
    ScoreRow,
    Scores,
    SplitScores,
    Status,
    Summary,
    UsageRow,
    UsageSection,
    score_row,
)

ROLES = ("target", "optimizer", "judge")


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """How the session ended, which the events do not say: a stop is no event."""

    run: str
    run_dir: str
    status: Status
    stop_reason: str
    spent: Spent
    wall_seconds: float


class _Origins(msgspec.Struct, frozen=True, kw_only=True):
    """Where the current and the best skill came from."""

    current: str = "initial_skill"
    best: str = "initial_skill"
    best_step: int = 0

    @classmethod
    def of(cls, view: RunView) -> _Origins:
        """Return the origins that the run's last word names."""
        last = view.standing if view.ended is None else view.ended
        if last is None:
            return cls()
        return cls(current=last.current_origin, best=last.best_origin, best_step=last.best_step)


def summarize(view: RunView, ending: Ending) -> Summary:
    """Return the summary of a run as far as it has come."""
    records = history(view)
    counts = Counter(kind_of(record.action) for record in records)
    origins = _Origins.of(view)
    best, current = _label(origins.best), _label(origins.current)
    return Summary(
        run=ending.run,
        run_dir=ending.run_dir,
        status=ending.status,
        stop_reason=ending.stop_reason,
        steps=len(records),
        accepts=counts["accept"],
        rejects=counts["reject"],
        inconclusive=counts["inconclusive"],
        skips=counts["skip"],
        best_step=origins.best_step,
        best_skill=f"{ending.run_dir}/best_skill.md" if ending.run_dir else "",
        scores=Scores(
            baseline=_scores(view, "baseline", "baseline"),
            best=_scores(view, best, "best"),
            last=_scores(view, current, "last"),
        ),
        by_type=_by_type(view, {"val": best, "test": "best"}),
        epochs=epoch_rows(view, records),
        current_origin=origins.current,
        best_origin=origins.best,
        claimed_val=None if view.ended is None else view.ended.claimed_val,
        usage=_usage(view, ending.spent),
        wall_seconds=ending.wall_seconds,
        config_digest="" if view.began is None else view.began.config_digest,
        version="" if view.began is None else view.began.version,
    )


def _label(origin: str) -> str:
    """Return the name under which a skill of this origin was measured on val."""
    return "baseline" if origin == "initial_skill" else origin


def _scores(view: RunView, val_label: str, test_label: str) -> SplitScores:
    val, test = view.score(val_label, "val"), view.score(test_label, "test")
    return SplitScores(
        val=None if val is None else score_row(val.mean), test=None if test is None else score_row(test.mean)
    )


def _by_type(view: RunView, labels: Mapping[str, str]) -> dict[str, dict[str, ScoreRow]]:
    found: dict[str, Measured] = {}
    for split, label in labels.items():
        measured = view.score(label, split)
        if measured is not None and measured.by_type:
            found[split] = measured
    return {split: {name: score_row(mean) for name, mean in each.by_type.items()} for split, each in found.items()}


def _usage(view: RunView, spent: Spent) -> UsageSection:
    by_role = {role: view.usage.get(role, NOTHING) for role in ROLES}
    total = NOTHING
    for usage in by_role.values():
        total = total + usage
    paid_here = spent.answered - spent.unused
    return UsageSection(
        target=UsageRow.of(by_role["target"]),
        optimizer=UsageRow.of(by_role["optimizer"]),
        judge=UsageRow.of(by_role["judge"]),
        total=UsageRow.of(total),
        overhead=Overhead(
            attempts=spent.attempts,
            failed=spent.failed,
            failed_tokens=spent.failed_usage.tokens,
            replayed=max(0, total.calls - paid_here),
            lost=spent.lost,
            lost_tokens=spent.lost_usage.tokens,
            speculative=spent.unused,
            speculative_tokens=spent.unused_usage.tokens,
            usd=(spent.failed_usage + spent.lost_usage + spent.unused_usage).usd,
            seconds=spent.seconds,
        ),
    )
