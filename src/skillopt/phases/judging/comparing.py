"""Has a judge choose between the old and the new answer to a task: blindly, and in both orders.
Owns what counts as a preference; refuses to know which skill gave which answer and what follows from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import Literal

import msgspec

from skillopt.domain.chat import Message
from skillopt.domain.judging import Comparison, Preference, Unjudged
from skillopt.domain.tasks import Task
from skillopt.kernel.dialogue import Conversation, Unusable, converse
from skillopt.kernel.run import Run
from skillopt.phases.judging.marking import Judge
from skillopt.phases.judging.material import exhibits_of, shown
from skillopt.phases.prompting import shipped_prompt

_ORDERS: tuple[tuple[Preference, Preference], ...] = (("old", "new"), ("new", "old"))


class PairReply(msgspec.Struct, frozen=True):
    """What a judge must answer; other keys are welcome and ignored."""

    better: Literal["first", "second", "neither"]
    reason: str = ""


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Two answers to one task."""

    task: Task
    old: Unjudged
    new: Unjudged


async def compare(run: Run, phase: str, judge: Judge, pairs: Sequence[Pair]) -> tuple[Comparison, ...]:
    """Return which answer of each pair is preferred, in order; equal answers are a tie that nobody is asked about.

    Each pair is shown in both orders, as often as the settings say. The side with more choices is preferred; a judge
    who always takes what stands first has chosen both equally often, and so neither.
    """
    open_pairs = [pair for pair in pairs if pair.old.answer != pair.new.answer]
    showings = tuple(product(range(judge.settings.repeats), _ORDERS))
    conversation = Conversation(asker=judge.asker, phase=phase, contract=PairReply)
    prompts = [_prompt(pair, order, reading) for pair in open_pairs for reading, order in showings]
    answered = await converse(run, conversation, prompts)
    replies = iter(answered)
    return tuple(
        Comparison(task_id=pair.task.id, preferred="neither")
        if pair.old.answer == pair.new.answer
        else _compared(pair.task.id, [(order, next(replies)) for _, order in showings])
        for pair in pairs
    )


def _prompt(pair: Pair, order: tuple[Preference, Preference], reading: int) -> tuple[Message, ...]:
    first, second = (pair.old, pair.new) if order[0] == "old" else (pair.new, pair.old)
    exhibits = [
        *exhibits_of(pair.task, pair.new.rubric, pair.new.references),
        ("first-answer", first.answer),
        ("second-answer", second.answer),
    ]
    asked = f"{shown(exhibits, reading)}\n\nSay which answer is better by the rubric."
    return (Message("system", shipped_prompt("judge_pair")), Message("user", asked))


def _compared(task_id: str, said: Sequence[tuple[tuple[Preference, Preference], PairReply | Unusable]]) -> Comparison:
    """One reply that is missing leaves the orders uneven, and then nothing was compared."""
    votes: Counter[Preference] = Counter()
    for order, reply in said:
        if isinstance(reply, Unusable):
            return Comparison(task_id=task_id, preferred=None, cause=f"judge: {reply.kind}")
        votes["neither" if reply.better == "neither" else order[reply.better == "second"]] += 1
    if votes["old"] == votes["new"]:
        return Comparison(task_id=task_id, preferred="neither", swayed=votes["old"] > 0)
    return Comparison(task_id=task_id, preferred="new" if votes["new"] > votes["old"] else "old")
