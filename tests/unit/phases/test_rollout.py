from __future__ import annotations

import pytest

from skillopt.domain.chat import Message
from skillopt.domain.errors import UsageError
from skillopt.domain.rollouts import Answered, Failed, Rollout
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import Task
from skillopt.kernel.run import Run
from skillopt.kernel.work import Ask
from skillopt.phases.rollout import Rollouts, rollout
from skillopt.testing.conversation import BrainReply, Conversation
from skillopt.testing.environments.office import Office
from skillopt.testing.faults import FaultKind
from skillopt.testing.scripted import ScriptedChat
from tests.simulation.house import house
from tests.unit.kernel.bench import Bench

TASKS = house().environment.tasks.val[:3]
SKILL = Skill.from_text("---\nname: x\n---\n# Rules\n\n<!-- APPENDIX_START -->\n<!-- APPENDIX_END -->\n")


def works(bench: Bench, tasks: tuple[Task, ...] = TASKS, *, skill: Skill = SKILL, trial: int = 0) -> Rollouts:
    return Rollouts(asker=bench.asker, environment=house().environment, skill=skill, tasks=tasks, trials=(trial,))


def test_works_are_made_when_looked_at_and_keep_their_order() -> None:
    bench = Bench(ScriptedChat("echo"))
    made = works(bench)
    assert len(made) == 3
    assert [work.key for work in made] == [made[index].key for index in range(3)] == [work.key for work in made[:]]
    assert [work.key for work in made[1:]] == [made[1].key, made[2].key]
    assert made[-1].key == made[2].key


def test_the_target_sees_the_rendered_skill_so_what_is_not_rendered_changes_no_key() -> None:
    bench = Bench(ScriptedChat("echo"))
    plain = Skill.from_text("# Rules\n")
    assert [work.key for work in works(bench)] == [work.key for work in works(bench, skill=plain)]
    assert works(bench)[0].key != works(bench, skill=Skill.from_text("# Rule\n"))[0].key
    assert works(bench)[0].key != works(bench, trial=1)[0].key


def test_each_task_is_answered_or_failed_in_order_whatever_finishes_first() -> None:
    def brain(conversation: Conversation) -> BrainReply:
        failing = conversation.asked == TASKS[1].input
        return BrainReply(fault=FaultKind.LENGTH) if failing else BrainReply(text=conversation.asked)

    bench = Bench(ScriptedChat(brain))

    made = works(bench, trial=2)

    async def work(run: Run) -> tuple[Rollout, ...]:
        return await rollout(run, "p", made, tuple(made.whose()))

    first, second, third = bench.live(work)
    assert first == Answered(task_id=TASKS[0].id, trial=2, text=str(TASKS[0].input))
    assert third == Answered(task_id=TASKS[2].id, trial=2, text=str(TASKS[2].input))
    assert isinstance(second, Failed)
    assert (second.task_id, second.trial, second.failure.who) == (TASKS[1].id, 2, "provider")


def test_all_tasks_come_once_before_any_comes_again() -> None:
    bench = Bench(ScriptedChat("echo"))
    environment = house().environment
    made = Rollouts(asker=bench.asker, environment=environment, skill=SKILL, tasks=TASKS, trials=(0, 5))
    assert [(task.id, trial) for task, trial in made.whose()] == [(task.id, t) for t in (0, 5) for task in TASKS]
    assert [work.key for work in made] == [work.key for t in (0, 5) for work in works(bench, trial=t)]
    assert [work.key for work in made[2:4]] == [made[2].key, made[3].key]
    assert len({work.key for work in made}) == len(made) == 6


def test_a_repeat_is_sent_with_a_variant_of_the_text_only_where_that_is_wanted() -> None:
    bench = Bench(ScriptedChat("echo"))

    def asked(trial: int, *, varied: bool) -> str:
        environment = house().environment
        made = Rollouts(
            asker=bench.asker, environment=environment, skill=SKILL, tasks=TASKS, trials=(trial,), varied=varied
        )
        work = made[0]
        assert isinstance(work, Ask)
        return work.request.messages[0].content

    plain = asked(0, varied=False)
    assert asked(3, varied=False) == asked(0, varied=True) == plain
    assert asked(3, varied=True) != plain
    assert SKILL.rendered.strip() in asked(3, varied=True)


class Slips(Office):
    """Cannot put one of its tasks."""

    def messages(self, task: Task, rendered_skill: str) -> tuple[Message, ...]:
        if task.id == "val-00002":
            raise KeyError(task.id)
        return super().messages(task, rendered_skill)


def test_the_slip_of_a_plugin_is_its_own() -> None:
    office = Slips(1)
    made = Rollouts(asker=Bench(ScriptedChat("echo")).asker, environment=office, skill=SKILL, tasks=office.tasks.val)
    assert made[0].key
    with pytest.raises(UsageError, match="Putting task 'val-00002' broke with KeyError"):
        assert made[1].key
