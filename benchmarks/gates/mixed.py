"""Val tasks with a known chance of a right answer, and edits that change the chances of some.
Owns the worlds and the target that answers by them; refuses to know the gate."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from skillopt.domain.seeds import Dice, dice
from skillopt.domain.tasks import Task, TaskSet
from skillopt.environments.dataset import Dataset, DatasetSettings
from skillopt.testing.conversation import Brain, BrainReply, Conversation

Kind = Literal["mixed", "coins", "beta", "uniform", "steady"]
Share = Literal["fix 20 %", "fix 10 %", "no-op", "trade 10 %"]
SHARES: tuple[Share, ...] = ("fix 20 %", "fix 10 %", "no-op", "trade 10 %")

_CASE = re.compile(r"Settle case (\d+)\.")
_NOTE = re.compile(r"Note (\d+): carry on as before\.")


class World(msgspec.Struct, frozen=True, kw_only=True):
    """The chances of val before any edit, and after the one that has this number; other edits change nothing."""

    seed: int
    before: tuple[float, ...]
    after: Mapping[int, tuple[float, ...]] = {}

    @property
    def environment(self) -> Dataset:
        """The tasks, as an environment."""
        val = [Task(id=f"v{case}", input=f"Settle case {case}.", reference="yes") for case in range(len(self.before))]
        train = [Task(id="t", input="Settle case 0, please.", reference="yes")]
        return Dataset(DatasetSettings(path="tasks"), TaskSet.checked(train=train, val=val, test=[]))

    @property
    def brain(self) -> Brain:
        """The target: each different request is a throw of its own."""

        def reply(conversation: Conversation) -> BrainReply:
            found = _CASE.search(conversation.asked)
            if found is None:
                return BrainReply(text="There is no case here.")
            chances = self.chances([int(number) for number in _NOTE.findall(conversation.everything)])
            right = dice("answer", self.seed, conversation.digest).random() < chances[int(found[1])]
            return BrainReply(text=f"<answer>{'yes' if right else 'no'}</answer>")

        return reply

    def chances(self, notes: Sequence[int]) -> tuple[float, ...]:
        """Return the chances under a skill with these notes."""
        return next((self.after[note] for note in notes if note in self.after), self.before)


def note(number: int) -> str:
    """Return the sentence of an edit."""
    return f"Note {number}: carry on as before."


def chances_of(kind: Kind, tasks: int, draw: Dice) -> tuple[float, ...]:
    """Return the chances of a world: `mixed` is 40 % easy, 30 % impossible, 30 % coins; `steady` is 0.8."""
    easy, impossible = round(0.4 * tasks), round(0.3 * tasks)
    match kind:
        case "mixed":
            return (*[1.0] * easy, *[0.0] * impossible, *[0.5] * (tasks - easy - impossible))
        case "coins":
            return (0.5,) * tasks
        case "steady":
            return (0.8,) * tasks
        case "beta":
            return tuple(draw.betavariate(0.5, 0.5) for _ in range(tasks))
        case "uniform":
            return tuple(draw.random() for _ in range(tasks))


def changed(before: Sequence[float], share: Share, draw: Dice, *, anywhere: bool = False) -> tuple[float, ...]:
    """Return the chances after an edit: tasks that are mended come from those that are not easy, unless `anywhere`."""
    after = list(before)
    if share == "no-op":
        return tuple(after)
    count = round((0.2 if share == "fix 20 %" else 0.1) * len(before))
    pool = [place for place, chance in enumerate(before) if anywhere or chance < 1.0]
    mended = draw.sample(pool, min(count, len(pool)))
    for place in mended:
        after[place] = 1.0
    if share == "trade 10 %":
        rest = [place for place, chance in enumerate(before) if place not in mended and chance > 0.0]
        easy = [place for place in rest if before[place] == 1.0]
        pool = easy if easy else rest
        for place in draw.sample(pool, min(count, len(pool))):
            after[place] = 0.0
    return tuple(after)
