from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import pytest

from skillopt.domain.errors import UsageError
from skillopt.domain.rollouts import Answered, Failed, Failure, Rollout, Turn
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import Task
from skillopt.kernel.run import Run
from skillopt.kernel.work import Asker
from skillopt.phases.feedback import Lesson, taught
from skillopt.testing.conversation import Brain, BrainReply, Conversation
from skillopt.testing.environments.office import Office
from skillopt.testing.faults import FaultKind
from skillopt.testing.scripted import ScriptedChat
from tests.unit.kernel.bench import Bench

DOWN = Failed(task_id="t9", trial=0, failure=Failure(kind="UnavailableError", who="provider", message="down"))


class Coach:
    """Says the words that it was given."""

    def __init__(self, words: Callable[[Task, Sequence[str]], object], turns: int = 2) -> None:
        self.feedback_turns = turns
        self.asked: list[tuple[str, ...]] = []
        self._words = words

    def feedback(self, task: Task, replies: Sequence[str]) -> str | None:
        self.asked.append(tuple(replies))
        return cast("str | None", self._words(task, replies))


def answered(place: int) -> Answered:
    return Answered(task_id=f"t{place}", trial=0, text=f"answer {place}")


def teach(coach: Coach, rollouts: Sequence[Rollout], brain: Brain) -> tuple[Rollout, ...]:
    chat = ScriptedChat(brain, model="target")
    lesson = Lesson(
        asker=Asker(verb="rollout", role="target", chat=chat, max_tokens=200),
        environment=Office(1),
        coach=coach,
        skill=Skill.from_text("# Style\n"),
        tasks=[Task(id=f"t{place}", input=f"case {place}") for place in range(len(rollouts))],
    )

    async def work(run: Run) -> tuple[Rollout, ...]:
        return await taught(run, "feedback", lesson, rollouts)

    return Bench(chat).live(work)


def test_each_turn_sends_all_that_was_said() -> None:
    shown = list[Conversation]()

    def brain(conversation: Conversation) -> BrainReply:
        shown.append(conversation)
        return BrainReply(text=f"again {len(shown)}")

    (talked,) = teach(Coach(lambda _task, replies: f"wrong {len(replies)}"), [answered(0)], brain)
    assert isinstance(talked, Answered)
    assert talked.text == "answer 0"
    assert talked.turns == (Turn(feedback="wrong 1", text="again 1"), Turn(feedback="wrong 2", text="again 2"))
    assert talked.replies == ("answer 0", "again 1", "again 2")
    assert [turn.text for turn in shown[1].turns] == [
        "case 0",
        "answer 0",
        "wrong 1",
        "again 1",
        "wrong 2",
    ]


def test_only_who_is_told_something_is_asked_again_and_a_failure_is_left_alone() -> None:
    coach = Coach(lambda task, _replies: "wrong" if task.id == "t1" else None)
    first, second, failed = teach(coach, [answered(0), answered(1), DOWN], lambda _: BrainReply(text="again"))
    assert (first, failed) == (answered(0), DOWN)
    assert isinstance(second, Answered)
    assert len(second.turns) == 2
    assert ("answer 0",) in coach.asked
    assert len(coach.asked) == 3


def test_a_turn_that_fails_leaves_what_was_said_before_it() -> None:
    def brain(conversation: Conversation) -> BrainReply:
        told = conversation.asked
        return BrainReply(fault=FaultKind.CONTEXT) if told == "wrong 2" else BrainReply(text="again")

    (talked,) = teach(Coach(lambda _task, replies: f"wrong {len(replies)}", turns=3), [answered(0)], brain)
    assert isinstance(talked, Answered)
    assert talked.turns == (Turn(feedback="wrong 1", text="again"),)


@pytest.mark.parametrize("said", [7, "", " \n", True])
def test_feedback_is_a_text_or_nothing(said: object) -> None:
    with pytest.raises(UsageError, match="feedback on task 't0' broke with TypeError"):
        teach(Coach(lambda _task, _replies: said), [answered(0)], lambda _: BrainReply(text="again"))


def test_the_slip_of_a_plugin_is_its_own() -> None:
    def slips(_task: Task, _replies: Sequence[str]) -> str:
        raise KeyError("gone")

    with pytest.raises(UsageError, match="feedback on task 't0' broke with KeyError"):
        teach(Coach(slips), [answered(0)], lambda _: BrainReply(text="again"))
