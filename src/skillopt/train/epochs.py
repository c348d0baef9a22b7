"""What the epochs of a run came to, folded from its view: their statistics, slow updates and meta skills.
Owns the field names of these records; refuses to know files and the rest of the summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from skillopt.kernel.events import PairFact
from skillopt.kernel.view import EpochView, RunView
from skillopt.train.history import StepRecord, average, kind_of
from skillopt.train.summary import EpochRow


class PairRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row of comparison_pairs.json."""

    id: str
    category: str
    prev_hard: float
    prev_soft: float
    curr_hard: float
    curr_soft: float


class SlowResult(msgspec.Struct, frozen=True, kw_only=True):
    """slow_result.json: what a slow update did; null where nothing was measured."""

    epoch: int
    action: str
    reason: str
    update_origin: str
    update_target: str
    reasoning: str
    slow_update_content: str
    candidate_hash: str
    pair_policy: str | None
    pairs: dict[str, int]
    n_pairs_left_out: int
    prev_hard: float | None
    curr_hard: float | None
    selection_hard: float | None
    selection_soft: float | None
    selection_n: int


class MetaResult(msgspec.Struct, frozen=True, kw_only=True):
    """meta_skill_result.json: the advice that the optimizer wrote for its next epoch."""

    epoch: int
    action: str
    reasoning: str
    meta_skill_content: str


def epoch_rows(view: RunView, records: Sequence[StepRecord]) -> tuple[EpochRow, ...]:
    """Return the statistics of the epochs that have at least one whole step."""
    closed = {epoch.ended.epoch: epoch for epoch in view.epochs if epoch.ended is not None}
    return tuple(
        _row(number, [record for record in records if record.epoch == number], closed.get(number))
        for number in dict.fromkeys(record.epoch for record in records)
    )


def _row(number: int, own: Sequence[StepRecord], epoch: EpochView | None) -> EpochRow:
    counts = Counter(kind_of(record.action) for record in own)
    ended = None if epoch is None else epoch.ended
    slow, meta = (None, None) if epoch is None else (epoch.slow_update, epoch.meta_skill)
    return EpochRow(
        epoch=number,
        steps=len(own),
        accepts=counts["accept"],
        rejects=counts["reject"],
        inconclusive=counts["inconclusive"],
        skips=counts["skip"],
        rollout_hard=average([record.rollout_hard for record in own]),
        slow_update=None if slow is None else slow.action,
        meta_skill=None if meta is None else meta.action,
        current_score=None if ended is None else ended.current_score,
        best_score=None if ended is None else ended.best_score,
        current_origin=None if ended is None else ended.current_origin,
        best_origin=None if ended is None else ended.best_origin,
    )


def slow_result(epoch: EpochView) -> SlowResult | None:
    """Return what the slow update of an epoch did; None where there was none."""
    made, compared, gate = epoch.slow_update, epoch.compared, epoch.gate
    if made is None:
        return None
    measured = None if epoch.measured is None else epoch.measured.mean
    shown = [] if compared is None else [pair for pair in compared.pairs if pair.kept]
    return SlowResult(
        epoch=made.epoch,
        action=made.action,
        reason="" if gate is None else gate.reason,
        update_origin=made.origin,
        update_target="slow_update_region",
        reasoning=made.reasoning,
        slow_update_content=made.content,
        candidate_hash=made.skill_digest[:16],
        pair_policy=None if compared is None else compared.policy,
        pairs=dict(sorted(Counter(pair.category for pair in shown).items())),
        n_pairs_left_out=0 if compared is None else len(compared.left_out),
        prev_hard=None if compared is None else compared.before_hard,
        curr_hard=None if compared is None else compared.now_hard,
        selection_hard=None if measured is None else measured.hard,
        selection_soft=None if measured is None else measured.soft,
        selection_n=0 if measured is None else measured.n,
    )


def meta_result(epoch: EpochView) -> MetaResult | None:
    """Return what the optimizer wrote for itself; None where it was not asked to."""
    made = epoch.meta_skill
    if made is None:
        return None
    return MetaResult(epoch=made.epoch, action=made.action, reasoning=made.reasoning, meta_skill_content=made.content)


def pair_rows(pairs: Sequence[PairFact]) -> tuple[PairRow, ...]:
    """Return pairs as they are written for people."""
    return tuple(
        PairRow(
            id=pair.task_id,
            category=pair.category,
            prev_hard=pair.before_hard,
            prev_soft=pair.before_soft,
            curr_hard=pair.now_hard,
            curr_soft=pair.now_soft,
        )
        for pair in pairs
    )
