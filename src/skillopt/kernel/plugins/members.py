"""What an environment may bring besides what each must: prompts, drawn tasks, feedback, reflection, errands for agents.
Owns these optional contracts, and telling once which of them an environment fulfils; refuses to know who uses them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, cast

import msgspec

from skillopt.domain.errands import Errand
from skillopt.domain.errors import UsageError
from skillopt.domain.judging import Unassessed, Unexamined, Unjudged
from skillopt.domain.rollouts import Answered
from skillopt.domain.scores import Score
from skillopt.domain.skill import Change, Skill
from skillopt.domain.tasks import Task
from skillopt.domain.transcripts import Transcript


class BringsPrompts(Protocol):
    """An environment that words questions to the optimizer itself; the config's `prompts` win over its texts."""

    @property
    def prompts(self) -> Mapping[str, str]:
        """Templates by the name of the shipped prompt whose place they take."""
        ...


class DrawsTasks(Protocol):
    """An environment that makes its train tasks from seeds, as a simulator does; val and test stay as `tasks` has them.

    Every epoch has the same microbatches, one for each seed, in an order of its own.
    """

    @property
    def train_size(self) -> int:
        """About how many train tasks an epoch has: as many whole microbatches are drawn as it takes."""
        ...

    def draw(self, seed: int, count: int) -> Sequence[Task]:
        """Return so many tasks, the same for the same seed; no id and no question twice, nor one of val or test."""
        ...


class GivesFeedback(Protocol):
    """An environment that answers the target while it trains, never on val and test.

    What the target says then is shown to the optimizer. The score of the task stays that of its first answer, which is
    what a deployed skill is measured by.
    """

    @property
    def feedback_turns(self) -> int:
        """The most times one task is gone back to."""
        ...

    def feedback(self, task: Task, replies: Sequence[str]) -> str | None:
        """Return what the target is told after its replies so far, or None to leave it there; a pure function."""
        ...


class Attempted(msgspec.Struct, frozen=True, kw_only=True):
    """One train task with the answer it got and the score of that."""

    task: Task
    answer: Answered
    score: Score


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """What one reflection is about: wrong answers to train tasks, or right ones, with the skill that led to them.

    An edit budget of None means any number of changes.
    """

    skill: Skill
    wrong: bool
    attempts: tuple[Attempted, ...]
    edit_budget: int | None


class Reflects(Protocol):
    """An environment that draws the lessons from its own tasks."""

    def reflection(self, group: Group) -> str | Sequence[Change]:
        """Return what the optimizer is shown in the place of the cases, or the changes themselves; a pure function.

        Changes are of the kind that `optimizer.mode` wants, and nobody is asked for them.
        """
        ...


class SendsErrands(Protocol):
    """An environment that agents are sent out for: what lies in their folder, and what is made of what they did.

    `grade_work` takes the place of `grade`, and sees the files that were left as well as the answer; a pure function.
    """

    def errand(self, task: Task, skill: Skill) -> Errand:
        """Return what the agent is sent to do; never a reference or a check."""
        ...

    def grade_work(self, task: Task, reply: str, transcript: Transcript) -> Score | Unjudged | Unassessed | Unexamined:
        """Score an answer by what was said and done."""
        ...


class Members(msgspec.Struct, frozen=True, kw_only=True):
    """Which optional members an environment has; None for each that it has not."""

    prompts: BringsPrompts | None = None
    draws: DrawsTasks | None = None
    feedback: GivesFeedback | None = None
    reflects: Reflects | None = None
    errands: SendsErrands | None = None


def members_of(environment: object) -> Members:
    """Return what this environment brings; half of a contract is an error that names the other half."""
    members = Members(
        prompts=cast("BringsPrompts", environment) if _has(environment, "prompts") else None,
        draws=cast("DrawsTasks", environment) if _has(environment, "draw", "train_size") else None,
        feedback=cast("GivesFeedback", environment) if _has(environment, "feedback", "feedback_turns") else None,
        reflects=cast("Reflects", environment) if _has(environment, "reflection") else None,
        errands=cast("SendsErrands", environment) if _has(environment, "errand", "grade_work") else None,
    )
    counts: dict[str, int] = {}
    if members.draws is not None:
        counts["train_size"] = members.draws.train_size
    if members.feedback is not None:
        counts["feedback_turns"] = members.feedback.feedback_turns
    for name, count in counts.items():
        if type(count) is not int or count < 1:
            raise UsageError(
                f"{type(environment).__name__}.{name} is {count!r}.", hint="It must be a whole number, at least 1."
            )
    return members


def _has(environment: object, *names: str) -> bool:
    missing = [name for name in names if not hasattr(environment, name)]
    if missing and len(missing) < len(names):
        (present,) = (name for name in names if name not in missing)
        raise UsageError(
            f"{type(environment).__name__} has {present} and no {missing[0]}.",
            hint=f"They go together: add {missing[0]}, or take {present} away.",
        )
    return not missing
