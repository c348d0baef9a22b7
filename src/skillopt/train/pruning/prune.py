"""The pruning of a skill, on one screen: groups of passages go if nothing on val is lost, else they are halved.
Owns the order of what is tried; refuses to know how a skill is measured and where the result is written."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from skillopt.domain.errors import UnavailableError, UsageError
from skillopt.domain.losses import NoLoss, pairs_needed
from skillopt.domain.skill import Skill
from skillopt.domain.skill.passages import Passage, passages, without
from skillopt.domain.tasks import Task
from skillopt.kernel.events import PassagesTried, PruneDecided, SkillKept
from skillopt.kernel.run import Run
from skillopt.train.pruning.confirming import Confirmed, confirm
from skillopt.train.pruning.screening import Measure, Screened, Screening
from skillopt.train.pruning.settings import PruneSettings

Group = tuple[Passage, ...]


class PrunePlan(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that decides what a pruning asks, apart from the answers."""

    skill: Skill
    val: tuple[Task, ...]
    settings: PruneSettings = PruneSettings()

    def __post_init__(self) -> None:
        needed = pairs_needed(self.settings.margin, self.settings.alpha)
        if len(self.val) * self.settings.trials < needed:
            raise UsageError(
                f"{len(self.val)} val tasks in {self.settings.trials} trials cannot show a loss below "
                f"{self.settings.margin:g}: that takes {needed} pairs of answers.",
                hint=f"Raise prune.trials to {-(-needed // len(self.val))}, or prune.margin, or give more val tasks.",
            )


class Pruned(msgspec.Struct, frozen=True, kw_only=True):
    """What a pruning came to: the skill to use, and the passages it does without; the original if not confirmed."""

    skill: Skill
    taken_out: tuple[Passage, ...]
    decided: PruneDecided


async def prune(plan: PrunePlan, measure: Measure, run: Run) -> Pruned:
    """Take out what nothing on val depends on, then hold what is left against the original, on all of val."""
    screening = await Screening.of(measure, plan.skill, plan.val)
    if not screening.solved:
        raise _nothing_solved(plan)
    taken_out: Group = ()
    waiting = _grouped(passages(plan.skill), plan.settings.group)
    number = 0
    while waiting:
        group, *waiting = waiting
        number += 1
        found = await screening.screen(without(plan.skill, (*taken_out, *group)), f"without_{number:03d}")
        run.emit(_tried(number, group, found))
        if found.harmless:
            taken_out = (*taken_out, *group)
        elif len(group) > 1:
            waiting = [group[: len(group) // 2], group[len(group) // 2 :], *waiting]
    return await _concluded(plan, measure, run, taken_out)


async def _concluded(plan: PrunePlan, measure: Measure, run: Run, taken_out: Group) -> Pruned:
    shorter = without(plan.skill, taken_out)
    run.emit(
        SkillKept(digest=shorter.digest, name=shorter.name, files={each.path: each.text for each in shorter.files})
    )
    confirmed = Confirmed(evidence=NoLoss(margin=plan.settings.margin), reason="every passage is of use")
    if taken_out:
        confirmed = await confirm(measure, plan.skill, shorter, plan.val, plan.settings)
    decided = _decision(plan, shorter, confirmed)
    run.emit(decided)
    if not decided.confirmed:
        return Pruned(skill=plan.skill, taken_out=(), decided=decided)
    return Pruned(skill=shorter, taken_out=taken_out, decided=decided)


def _grouped(every: Sequence[Passage], size: int) -> list[Group]:
    """Neighbours are tried together: what was written together is often of use together."""
    return [tuple(every[start : start + size]) for start in range(0, len(every), size)]


def _tried(number: int, group: Group, found: Screened) -> PassagesTried:
    return PassagesTried(
        number=number,
        lines=tuple((passage.first_line, passage.last_line) for passage in group),
        texts=tuple(passage.text for passage in group),
        taken_out=found.harmless,
        lost=found.lost,
        unmeasured=found.unmeasured,
        calls=found.calls,
    )


def _decision(plan: PrunePlan, shorter: Skill, confirmed: Confirmed) -> PruneDecided:
    return PruneDecided(
        original_digest=plan.skill.digest,
        pruned_digest=shorter.digest,
        confirmed=confirmed.verdict is True,
        reason=confirmed.reason,
        margin=plan.settings.margin,
        chance=confirmed.evidence.chance,
        loss=confirmed.loss,
        rounds=confirmed.rounds,
        pairs=len(confirmed.losses),
        failed=confirmed.failed,
        calls=confirmed.calls,
    )


def _nothing_solved(plan: PrunePlan) -> UnavailableError:
    return UnavailableError(
        f"The skill solves none of the {len(plan.val)} val tasks reliably: nothing shows what a passage does.",
        hint="Prune a skill that works: name one with --skill, or look at models.target (skillopt doctor).",
    )
