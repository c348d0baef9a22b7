"""A simulated office: draws its cases from seeds, corrects the target while it trains, keeps a logbook to learn from.
Owns all four optional members in their smallest form; the target and the teacher are those of the rules world."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import msgspec

from skillopt.domain.chat import Message
from skillopt.domain.scores import Score
from skillopt.domain.skill import Change, Edit, EditOp
from skillopt.domain.tasks import Task, TaskSet
from skillopt.kernel.plugins.members import Group
from skillopt.testing.worlds import HURT, RULES, VIOLATED, TaskRow, rules_world

_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
_LOGBOOK = """Task: reflect

You lead an office and improve its house style: a Markdown document that every clerk reads before settling a case.
Below are the house style and the page of the logbook that says which rules were broken. Propose {{edit_budget}}
changes that teach the broken rules.

{{rules}}

Answer with one JSON object and nothing else: {"patch": {"reasoning": "…", {{form}}}}
"""
OFFICE_PROMPTS: Mapping[str, str] = MappingProxyType({"reflect_failures": _LOGBOOK})


class Office:
    """An environment with a prompt, drawn train tasks, feedback and a reflection of its own."""

    version = "office-1"
    prompts = OFFICE_PROMPTS

    def __init__(
        self, seed: int, *, train_size: int = 12, val: int = 8, test: int = 8, feedback_turns: int = 2
    ) -> None:
        fixed = rules_world(seed, 0, val, test)
        self._fixed = TaskSet(val=_tasks(fixed.val), test=_tasks(fixed.test))
        self.train_size = train_size
        self.feedback_turns = feedback_turns

    @property
    def tasks(self) -> TaskSet:
        """The cases that decide and those that only report; those of train are drawn."""
        return self._fixed

    def draw(self, seed: int, count: int) -> tuple[Task, ...]:
        """Return the cases of a day: the seed is the day."""
        return _tasks(rules_world(seed + 10**6, count, 0, 0).train, f"day-{seed}-")

    def messages(self, task: Task, rendered_skill: str) -> tuple[Message, ...]:
        """Put the house style before the case."""
        return (Message("system", f"The house style:\n\n{rendered_skill}"), Message("user", str(task.input)))

    def grade(self, task: Task, reply: str) -> Score:
        """Compare what stands in the answer tag."""
        found = _ANSWER.search(reply)
        right = found is not None and (found[1],) == task.references
        return Score(hard=float(right), soft=float(right), feedback="" if right else "The case is not settled.")

    def feedback(self, task: Task, replies: Sequence[str]) -> str | None:
        """Say which rule was broken, as long as one was and nobody said so before."""
        broken = VIOLATED.search(replies[-1])
        rule = None if broken is None else RULES.find(broken[1])
        return None if rule is None else f"Case {task.id} came back. Mind this rule: {rule.sentence}"

    def reflection(self, group: Group) -> str | tuple[Change, ...]:
        """Show the logbook of what went wrong; take out by oneself what did harm; learn nothing from success."""
        if not group.wrong:
            return ()
        harmful = RULES.harmful
        said = [attempt.answer.text for attempt in group.attempts]
        if harmful is not None and harmful.sentence in group.skill.rendered and any(map(HURT.search, said)):
            return (Edit(op=EditOp.DELETE, target=harmful.sentence),)
        lines = [f"- {attempt.task.id}: {_told(attempt.answer.replies)}" for attempt in group.attempts]
        return "# The logbook\n\n" + "\n".join(lines)


def _told(replies: Sequence[str]) -> str:
    tags = [found[0] for reply in replies for found in VIOLATED.finditer(reply)]
    return f"{' '.join(tags) or 'no rule named'}, after {len(replies)} attempts"


def _tasks(rows: Sequence[TaskRow], prefix: str = "") -> tuple[Task, ...]:
    named = (msgspec.structs.replace(row, id=f"{prefix}{row.id}") for row in rows)
    return tuple(Task(id=row.id, input=row.input, reference=row.reference, type=row.type) for row in named)
