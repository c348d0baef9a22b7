"""What a run comes to, in the words other tools rely on: summary and history, folded from its view.
Owns the field names of summary.json and history.json; refuses to know files and where the numbers are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from skillopt.domain.usage import NOTHING, Usage
from skillopt.kernel.events import Mean, Measured
from skillopt.kernel.journal import Spent
from skillopt.kernel.view import RunView, StepView

Status = Literal["finished", "stopped", "failed"]
ROLES = ("target", "optimizer", "judge")
SPLITS = ("val", "test")


class UsageRow(msgspec.Struct, frozen=True, kw_only=True):
    """Usage as it is written for people."""

    calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    usd: float

    @classmethod
    def of(cls, usage: Usage) -> UsageRow:
        """Return the row of a usage."""
        return cls(
            calls=usage.calls,
            input_tokens=usage.input_tokens,
            cached_tokens=usage.cached_tokens,
            output_tokens=usage.output_tokens,
            usd=usage.usd,
        )


class Overhead(msgspec.Struct, frozen=True, kw_only=True):
    """What was sent beyond the answers that were used; this part depends on faults, kills and speculation."""

    attempts: int
    failed: int
    failed_tokens: int
    replayed: int
    lost: int
    lost_tokens: int
    speculative: int
    speculative_tokens: int
    usd: float
    seconds: float


class UsageSection(msgspec.Struct, frozen=True, kw_only=True):
    """Usage by role, and the overhead."""

    target: UsageRow
    optimizer: UsageRow
    judge: UsageRow
    total: UsageRow
    overhead: Overhead


class ScoreRow(msgspec.Struct, frozen=True, kw_only=True):
    """A measured score with its interval; null where nothing was measured."""

    hard: float | None
    soft: float | None
    n: int
    low: float | None
    high: float | None


class SplitScores(msgspec.Struct, frozen=True, kw_only=True):
    """Scores of one skill."""

    val: ScoreRow | None
    test: ScoreRow | None


class Scores(msgspec.Struct, frozen=True, kw_only=True):
    """Scores of the seed skill, the best and the last."""

    baseline: SplitScores
    best: SplitScores
    last: SplitScores


class EpochRow(msgspec.Struct, frozen=True, kw_only=True):
    """What the steps of one epoch came to."""

    epoch: int
    steps: int
    accepts: int
    rejects: int
    inconclusive: int
    skips: int
    rollout_hard: float | None


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """summary.json, and what --json prints."""

    run: str
    run_dir: str
    status: Status
    stop_reason: str
    steps: int
    accepts: int
    rejects: int
    inconclusive: int
    skips: int
    best_step: int
    best_skill: str
    scores: Scores
    by_type: dict[str, dict[str, ScoreRow]]
    epochs: tuple[EpochRow, ...]
    current_origin: str
    best_origin: str
    claimed_val: float | None
    usage: UsageSection
    wall_seconds: float
    config_digest: str
    version: str


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """How the session ended, which the events do not say: a stop is no event."""

    run: str
    run_dir: str
    status: Status
    stop_reason: str
    spent: Spent
    wall_seconds: float


class AccumulationRow(msgspec.Struct, frozen=True, kw_only=True):
    """One microbatch of a step."""

    batch_idx: int
    batch_seed: int
    n_envs: int
    hard: float | None
    soft: float | None


class StepRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One row of history.json."""

    step: int
    epoch: int
    step_in_epoch: int
    tokens: dict[str, UsageRow]
    rollout_hard: float | None
    rollout_soft: float | None
    rollout_n: int
    rollout_failed: int
    accumulation_batches: tuple[AccumulationRow, ...]
    n_patches: int
    n_failure_patches: int
    n_success_patches: int
    n_edits_merged: int
    n_edits_ranked: int
    edit_budget: int | None
    lr_control_mode: str
    support_counts: tuple[int, ...]
    candidate_hash: str
    candidate_skill_len: int
    edit_apply_summary: dict[str, int]
    selection_hard: float | None
    selection_soft: float | None
    selection_n: int
    gate_metric: str
    candidate_gate_score: float | None
    action: str
    reason: str
    current_score: float | None
    best_score: float | None
    best_step: int
    current_origin: str
    best_origin: str
    skill_len: int


def history(view: RunView) -> tuple[StepRecord, ...]:
    """Return the records of the whole steps."""
    return tuple(_record(view, step) for step in view.finished_steps)


def summarize(view: RunView, ending: Ending) -> Summary:
    """Return the summary of a run as far as it has come."""
    records = history(view)
    counts = Counter(_kind(record.action) for record in records)
    last = records[-1] if records else None
    best = "baseline" if last is None or last.best_step == 0 else last.best_origin
    current = "baseline" if last is None or last.current_origin == "initial_skill" else last.current_origin
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
        best_step=0 if last is None else last.best_step,
        best_skill=f"{ending.run_dir}/best_skill.md",
        scores=Scores(
            baseline=_scores(view, "baseline", "baseline"),
            best=_scores(view, best, "best"),
            last=_scores(view, current, "last"),
        ),
        by_type=_by_type(view, {"val": best, "test": "best"}),
        epochs=_epochs(records),
        current_origin="initial_skill" if last is None else last.current_origin,
        best_origin="initial_skill" if last is None else last.best_origin,
        claimed_val=None if view.ended is None else view.ended.claimed_val,
        usage=_usage(view, ending.spent),
        wall_seconds=ending.wall_seconds,
        config_digest="" if view.began is None else view.began.config_digest,
        version="" if view.began is None else view.began.version,
    )


def _record(view: RunView, step: StepView) -> StepRecord:
    began, ended, gate, candidate = step.began, step.ended, step.gate, step.candidate
    if ended is None or gate is None or candidate is None:
        raise ValueError(f"Step {began.step} is not whole.")
    measured = None if step.measured is None else step.measured.mean
    graded = [row for row in step.rows if row.hard is not None]
    patches = [patch for patch in step.patches if patch.stage == "reflect"]
    return StepRecord(
        step=began.step,
        epoch=began.epoch,
        step_in_epoch=began.step_in_epoch,
        tokens={stage: UsageRow.of(usage) for stage, usage in sorted(step.usage.items())},
        rollout_hard=_average([row.hard for row in graded]),
        rollout_soft=_average([row.soft for row in graded]),
        rollout_n=len(graded),
        rollout_failed=len(step.rows) - len(graded),
        accumulation_batches=tuple(
            AccumulationRow(
                batch_idx=each.batch,
                batch_seed=each.seed,
                n_envs=len(each.rows),
                hard=each.mean.hard,
                soft=each.mean.soft,
            )
            for each in step.batches
        ),
        n_patches=len(patches),
        n_failure_patches=sum(1 for patch in patches if patch.source == "failure"),
        n_success_patches=sum(1 for patch in patches if patch.source == "success"),
        n_edits_merged=len(step.merged),
        n_edits_ranked=len(step.ranked),
        edit_budget=began.edit_budget,
        lr_control_mode="fixed",
        support_counts=tuple(edit.support for edit in step.ranked),
        candidate_hash=candidate.skill_digest[:16],
        candidate_skill_len=_length(view, candidate.skill_digest),
        edit_apply_summary=dict(sorted(Counter(edit.status for edit in candidate.edits).items())),
        selection_hard=None if measured is None else measured.hard,
        selection_soft=None if measured is None else measured.soft,
        selection_n=0 if measured is None else measured.n,
        gate_metric=gate.metric,
        candidate_gate_score=gate.candidate if candidate.changed else None,
        action=gate.action,
        reason=gate.reason,
        current_score=ended.current_score,
        best_score=ended.best_score,
        best_step=ended.best_step,
        current_origin=ended.current_origin,
        best_origin=ended.best_origin,
        skill_len=_length(view, ended.skill_digest),
    )


def _kind(action: str) -> str:
    return "skip" if action.startswith("skip") else action.removesuffix("_new_best").removeprefix("force_")


def _length(view: RunView, digest: str) -> int:
    return len(view.skills[digest].files["SKILL.md"])


def _average(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _row(mean: Mean) -> ScoreRow:
    return ScoreRow(hard=mean.hard, soft=mean.soft, n=mean.n, low=mean.low, high=mean.high)


def _scores(view: RunView, val_label: str, test_label: str) -> SplitScores:
    val, test = view.score(val_label, "val"), view.score(test_label, "test")
    return SplitScores(val=None if val is None else _row(val.mean), test=None if test is None else _row(test.mean))


def _by_type(view: RunView, labels: Mapping[str, str]) -> dict[str, dict[str, ScoreRow]]:
    found: dict[str, Measured] = {}
    for split, label in labels.items():
        measured = view.score(label, split)
        if measured is not None and measured.by_type:
            found[split] = measured
    return {split: {name: _row(mean) for name, mean in each.by_type.items()} for split, each in found.items()}


def _epochs(records: Sequence[StepRecord]) -> tuple[EpochRow, ...]:
    rows = []
    for epoch in dict.fromkeys(record.epoch for record in records):
        own = [record for record in records if record.epoch == epoch]
        counts = Counter(_kind(record.action) for record in own)
        rows.append(
            EpochRow(
                epoch=epoch,
                steps=len(own),
                accepts=counts["accept"],
                rejects=counts["reject"],
                inconclusive=counts["inconclusive"],
                skips=counts["skip"],
                rollout_hard=_average([record.rollout_hard for record in own]),
            )
        )
    return tuple(rows)


def _usage(view: RunView, spent: Spent) -> UsageSection:
    by_role = {role: view.usage[role] if role in view.usage else NOTHING for role in ROLES}
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
