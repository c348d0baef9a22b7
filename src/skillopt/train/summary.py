"""The summary of a run: the values of summary.json, whose field names other tools rely on.
Owns these names; refuses to know how the numbers came about."""

from __future__ import annotations

from typing import Literal

import msgspec

from skillopt.domain.usage import Usage
from skillopt.kernel.events import Mean

Status = Literal["finished", "stopped", "failed"]


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
    """What the steps of one epoch came to, and what was drawn from it; null where that did not happen (yet)."""

    epoch: int
    steps: int
    accepts: int
    rejects: int
    inconclusive: int
    skips: int
    rollout_hard: float | None
    slow_update: str | None
    meta_skill: str | None
    current_score: float | None
    best_score: float | None
    current_origin: str | None
    best_origin: str | None


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


def score_row(mean: Mean) -> ScoreRow:
    """Return a measured score as it is written for people."""
    return ScoreRow(hard=mean.hard, soft=mean.soft, n=mean.n, low=mean.low, high=mean.high)
