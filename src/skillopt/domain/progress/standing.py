"""How a skill stands: what it scored on val, where it came from, and what was changed on the way.
Owns this value; refuses to know who stands beside it."""

from __future__ import annotations

from collections import defaultdict

import msgspec

from skillopt.domain.scores import Metric, Scoreboard
from skillopt.domain.skill import Edit, Skill


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """A skill, how it did on val, and where it came from; `fresh` says that these trials did not choose it.

    `edits` are those that led from the seed to it, in order; what a rewrite or a region's owner did is not among them.
    `lineage` are the steps whose accepted changes it has.
    """

    skill: Skill
    board: Scoreboard
    origin: str
    step: int = 0
    fresh: bool = True
    edits: tuple[Edit, ...] = ()
    lineage: frozenset[int] = frozenset()

    def marks(self, metric: Metric) -> dict[str, float]:
        """Return the mean mark of each val task that was measured."""
        found: dict[str, list[float]] = defaultdict(list)
        for row in self.board.rows:
            if row.score is not None:
                found[row.task_id].append(metric.of(row.score))
        return {task: sum(marks) / len(marks) for task, marks in found.items()}
