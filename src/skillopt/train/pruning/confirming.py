"""Whether a pruned skill may stand for the original: both on all of val, round by round, in trials nothing chose.
Owns when enough is known; refuses to know what was taken out."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from skillopt.domain.losses import NoLoss
from skillopt.domain.scores import Scoreboard
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import Task
from skillopt.train.pruning.screening import LOOKS, Measure
from skillopt.train.pruning.settings import PruneSettings

_MOST_FAILED = 0.1
_ROUNDS_BEFORE_GIVING_UP = 2


class Confirmed(msgspec.Struct, frozen=True, kw_only=True):
    """How the two skills compare after some rounds; `failed` counts pairs that one side left unanswered."""

    evidence: NoLoss
    verdict: bool | None = None
    reason: str = ""
    losses: tuple[float, ...] = ()
    rounds: int = 0
    failed: int = 0
    calls: int = 0

    @property
    def loss(self) -> float | None:
        """The mean loss that was seen; None when no pair was measured."""
        return sum(self.losses) / len(self.losses) if self.losses else None


async def confirm(
    measure: Measure, original: Skill, pruned: Skill, val: Sequence[Task], settings: PruneSettings
) -> Confirmed:
    """Hold the pruned skill against the original until the loss is shown to be small, or there is no hope of it."""
    so_far = Confirmed(evidence=NoLoss(margin=settings.margin))
    while so_far.verdict is None:
        number, trial = so_far.rounds + 1, LOOKS + so_far.rounds
        with_all = await measure(original, val, label=f"confirm_{number}.original", split="val", trial=trial)
        with_less = await measure(pruned, val, label=f"confirm_{number}.pruned", split="val", trial=trial)
        so_far = _decided(_after(so_far, with_all, with_less), settings)
    return so_far


def _after(so_far: Confirmed, with_all: Scoreboard, with_less: Scoreboard) -> Confirmed:
    """A pair with a failed side is left out: a failure is no loss, and no proof that nothing was lost."""
    pairs = [
        (before.score.hard, after.score.hard)
        for before, after in zip(with_all.rows, with_less.rows, strict=True)
        if before.score is not None and after.score is not None
    ]
    losses = tuple(before - after for before, after in pairs)
    return msgspec.structs.replace(
        so_far,
        evidence=so_far.evidence.after(losses),
        losses=(*so_far.losses, *losses),
        rounds=so_far.rounds + 1,
        failed=so_far.failed + len(with_all.rows) - len(pairs),
        calls=so_far.calls + len(with_all.rows) + len(with_less.rows),
    )


def _decided(so_far: Confirmed, settings: PruneSettings) -> Confirmed:
    every = len(so_far.losses) + so_far.failed
    loss = so_far.loss
    if so_far.failed > _MOST_FAILED * every or loss is None:
        verdict, reason = False, f"{so_far.failed} of {every} pairs have no answer on one side"
    elif so_far.evidence.shown(settings.alpha):
        verdict, reason = True, f"a loss of {settings.margin:g} or more is ruled out at {settings.alpha:g}"
    elif loss >= settings.margin and so_far.rounds >= _ROUNDS_BEFORE_GIVING_UP:
        verdict, reason = False, f"a mean loss of {loss:.3g} was seen"
    elif so_far.rounds >= settings.trials:
        verdict, reason = (
            False,
            f"a loss of {settings.margin:g} could not be ruled out in {so_far.rounds} trials a task",
        )
    else:
        return so_far
    return msgspec.structs.replace(so_far, verdict=verdict, reason=reason)
