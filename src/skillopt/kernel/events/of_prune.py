"""What is said while a skill is pruned: which passages were tried together, and what the pruned skill was worth.
Owns these events; refuses to know how passages are chosen."""

from __future__ import annotations

from skillopt.kernel.events.facts import Fact


class PassagesTried(Fact, frozen=True, kw_only=True, tag="passages_tried"):
    """A skill was tried without some passages: `lost` are the val tasks that then failed, `unmeasured` had no answer.

    The lines are those of the original. They are taken out if neither list holds a task.
    """

    number: int
    lines: tuple[tuple[int, int], ...]
    texts: tuple[str, ...]
    taken_out: bool
    lost: tuple[str, ...]
    unmeasured: tuple[str, ...]
    calls: int


class PruneDecided(Fact, frozen=True, kw_only=True, tag="prune_decided"):
    """The pruned skill was held against the original on all of val, in fresh trials.

    `confirmed` says that the mean loss was shown to be below the margin; `chance` bounds the chance that this much
    evidence comes from a skill that loses as much. `loss` is what was seen, None where nothing was measured.
    """

    original_digest: str
    pruned_digest: str
    confirmed: bool
    reason: str
    margin: float
    chance: float
    loss: float | None
    rounds: int
    pairs: int
    failed: int
    calls: int
