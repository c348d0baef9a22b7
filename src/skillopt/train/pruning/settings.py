"""The settings of pruning: how sure it must be that nothing was lost.
Owns this config section; refuses to know skills and tasks."""

from __future__ import annotations

import msgspec


class PruneSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Config section `prune`: how `skillopt prune` decides that a passage does nothing. Training does not read it.

    group: How many passages are tried together at first; a group that something depends on is halved.
    margin: The mean loss on val that the pruned skill must be shown to stay below, from 0 to 1.
    alpha: The chance that a pruned skill which loses as much as the margin passes that test all the same.
    trials: The most times each val task is put with both skills for that test; it ends as soon as it is decided.
    """

    group: int = 4
    margin: float = 0.05
    alpha: float = 0.05
    trials: int = 10

    def __post_init__(self) -> None:
        if self.group < 1 or self.trials < 1:
            raise ValueError("prune.group and prune.trials must be at least 1")
        if not (0.0 < self.margin < 1.0 and 0.0 < self.alpha < 1.0):
            raise ValueError("prune.margin and prune.alpha lie between 0 and 1")
