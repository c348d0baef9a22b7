"""The history of a run: one record for each whole step, folded from its view.
Owns the field names of history.json; refuses to know files and summaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from skillopt.kernel.events import BudgetDecided, GateEvidence
from skillopt.kernel.view import RunView, StepView
from skillopt.train.summary import UsageRow


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
    parent_origin: str
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
    lr_decision: BudgetDecided | None
    skill_update_mode: str
    support_counts: tuple[int, ...]
    candidate_hash: str
    candidate_skill_len: int
    edit_apply_summary: dict[str, int]
    rewrite_change_summary: tuple[str, ...]
    selection_hard: float | None
    selection_soft: float | None
    selection_n: int
    gate_metric: str
    candidate_gate_score: float | None
    action: str
    reason: str
    evidence: GateEvidence | None
    current_score: float | None
    best_score: float | None
    best_step: int
    current_origin: str
    best_origin: str
    skill_len: int
    n_execution_lapse_notes: int | None
    n_appendix_notes_added: int | None
    n_appendix_notes_total: int | None
    n_appendix_notes_consolidated: int | None


def history(view: RunView) -> tuple[StepRecord, ...]:
    """Return the records of the whole steps."""
    return tuple(_record(view, step) for step in view.finished_steps)


def kind_of(action: str) -> str:
    """Return what an action counts as: accept, reject, inconclusive or skip."""
    return "skip" if action.startswith("skip") else action.removesuffix("_new_best").removeprefix("force_")


def average(values: Sequence[float | None]) -> float | None:
    """Return the mean of what is known; None when nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _record(view: RunView, step: StepView) -> StepRecord:
    began, ended, gate, candidate, notes = step.began, step.ended, step.gate, step.candidate, step.notes
    if ended is None or gate is None or candidate is None:
        raise ValueError(f"Step {began.step} is not whole.")
    measured = None if step.measured is None else step.measured.mean
    graded = [row for row in step.rows if row.hard is not None]
    patches = [patch for patch in step.patches if patch.stage == "reflect"]
    return StepRecord(
        step=began.step,
        epoch=began.epoch,
        step_in_epoch=began.step_in_epoch,
        parent_origin=step.parent,
        tokens={stage: UsageRow.of(usage) for stage, usage in sorted(step.usage.items())},
        rollout_hard=average([row.hard for row in graded]),
        rollout_soft=average([row.soft for row in graded]),
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
        lr_control_mode=began.control,
        lr_decision=step.decision,
        skill_update_mode=began.mode,
        support_counts=tuple(edit.support for edit in step.ranked),
        candidate_hash=candidate.skill_digest[:16],
        candidate_skill_len=_length(view, candidate.skill_digest),
        edit_apply_summary=dict(sorted(Counter(edit.status for edit in candidate.edits).items())),
        rewrite_change_summary=candidate.summary,
        selection_hard=None if measured is None else measured.hard,
        selection_soft=None if measured is None else measured.soft,
        selection_n=gate.n,
        gate_metric=gate.metric,
        candidate_gate_score=gate.candidate if candidate.changed else None,
        action=gate.action,
        reason=gate.reason,
        evidence=gate.evidence,
        current_score=ended.current_score,
        best_score=ended.best_score,
        best_step=ended.best_step,
        current_origin=ended.current_origin,
        best_origin=ended.best_origin,
        skill_len=_length(view, ended.skill_digest),
        n_execution_lapse_notes=None if notes is None else len(notes.proposed),
        n_appendix_notes_added=None if notes is None else len(notes.added),
        n_appendix_notes_total=None if notes is None else notes.total,
        n_appendix_notes_consolidated=None if notes is None else notes.consolidated,
    )


def _length(view: RunView, digest: str) -> int:
    return len(view.skills[digest].files["SKILL.md"])
