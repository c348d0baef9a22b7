"""What is said at the end of an epoch, when a run looks back on it.
Owns these events; refuses to know what they add up to."""

from __future__ import annotations

import msgspec

from skillopt.kernel.events.facts import Fact


class PairFact(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One task with the skill of an epoch ago and with that of now; `kept` says whether the optimizer was shown it."""

    task_id: str
    category: str
    before_hard: float
    before_soft: float
    now_hard: float
    now_soft: float
    kept: bool


class EpochCompared(Fact, frozen=True, kw_only=True, tag="epoch_compared"):
    """The same train tasks went with both skills; `left_out` have no pair, since a side of them failed."""

    epoch: int
    policy: str
    before_digest: str
    now_digest: str
    before_hard: float | None
    now_hard: float | None
    pairs: tuple[PairFact, ...]
    left_out: tuple[str, ...]


class SlowUpdated(Fact, frozen=True, kw_only=True, tag="slow_updated"):
    """The slow update of an epoch is decided: what it did, and the guidance that was proposed."""

    epoch: int
    origin: str
    action: str
    reasoning: str
    content: str
    skill_digest: str


class MetaSkillWritten(Fact, frozen=True, kw_only=True, tag="meta_skill_written"):
    """The optimizer has its advice for the next epoch, or `action` says why it has none."""

    epoch: int
    action: str
    reasoning: str
    content: str


class EpochEnded(Fact, frozen=True, kw_only=True, tag="epoch_ended"):
    """An epoch is whole, looked back on, and this is how things stand; views of a stopped run may end here."""

    epoch: int
    step: int
    skill_digest: str
    best_digest: str
    current_score: float | None
    best_score: float | None
    best_step: int
    current_origin: str
    best_origin: str
