"""Goes back to the target with what its environment has to say of an answer, in training only.
Owns the turns and their requests; refuses to know scores: a task keeps that of its first answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from skillopt.domain.chat import Message
from skillopt.domain.errors import UsageError
from skillopt.domain.rollouts import Answered, Failure, Rollout, Turn
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import Task
from skillopt.kernel.boundary import Attributed
from skillopt.kernel.plugins.members import GivesFeedback
from skillopt.kernel.ports import Environment
from skillopt.kernel.run import Run
from skillopt.kernel.work import Ask, Asker


class Lesson(msgspec.Struct, frozen=True, kw_only=True):
    """Who is taught by whom, with which skill in front of it, on which tasks."""

    asker: Asker
    environment: Environment
    coach: GivesFeedback
    skill: Skill
    tasks: Sequence[Task]


async def taught(run: Run, phase: str, lesson: Lesson, rollouts: Sequence[Rollout]) -> tuple[Rollout, ...]:
    """Return the rollouts with the turns that followed; where a turn failed, what was said before it stands."""
    answers = {place: each for place, each in enumerate(rollouts) if isinstance(each, Answered)}
    going = list(answers)
    for turn in range(1, lesson.coach.feedback_turns + 1):
        told = [(place, run.scrub(said)) for place, said in _feedback(lesson, answers, going)]
        if not told:
            break
        works = [_further(lesson, place, answers[place], said) for place, said in told]
        outcomes = await run.do(f"{phase}/turn_{turn}", lesson.asker.verb, works)
        going = []
        for (place, said), outcome in zip(told, outcomes, strict=True):
            if not isinstance(outcome, Failure):
                turns = (*answers[place].turns, Turn(feedback=said, text=outcome.text))
                answers[place] = msgspec.structs.replace(answers[place], turns=turns)
                going.append(place)
    return tuple(answers.get(place, each) for place, each in enumerate(rollouts))


def _feedback(lesson: Lesson, answers: dict[int, Answered], going: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Yield the places that are gone back to, with what the target is told there."""
    for place in going:
        task = lesson.tasks[place]
        with Attributed(UsageError, f"The environment's feedback on task {task.id!r}"):
            said = lesson.coach.feedback(task, answers[place].replies)
            if said is not None:
                if not isinstance(said, str) or not said.strip():
                    raise TypeError(f"it returned {said!r:.40}, which is neither None nor a text")
                yield place, said


def _further(lesson: Lesson, place: int, answer: Answered, said: str) -> Ask:
    """Return the work of asking once more, with all that was said before."""
    messages = list(lesson.environment.messages(lesson.tasks[place], lesson.skill.rendered))
    reply = answer.text
    for turn in answer.turns:
        messages += [Message("assistant", reply), Message("user", turn.feedback)]
        reply = turn.text
    messages += [Message("assistant", reply), Message("user", said)]
    return lesson.asker.ask(tuple(messages))
