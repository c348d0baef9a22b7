from __future__ import annotations

from skillopt.domain.rollouts import Answered, Failed, Rollout
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import Task
from skillopt.kernel.run import Run
from skillopt.phases.attempts import Prompted
from skillopt.phases.rollout import Rollouts, rollout
from skillopt.testing.conversation import BrainReply, Conversation
from skillopt.testing.faults import FaultKind
from skillopt.testing.scripted import ScriptedChat
from tests.simulation.house import house
from tests.unit.kernel.bench import Bench

TASKS = house().environment.tasks.val[:3]
SKILL = Skill.from_text("---\nname: x\n---\n# Rules\n\n<!-- APPENDIX_START -->\n<!-- APPENDIX_END -->\n")


def works(bench: Bench, tasks: tuple[Task, ...] = TASKS, *, skill: Skill = SKILL, trial: int = 0) -> Rollouts:
    attempts = Prompted(asker=bench.asker, environment=house().environment)
    return Rollouts(attempts=attempts, skill=skill, tasks=tasks, trials=(trial,))


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
    attempts = Prompted(asker=bench.asker, environment=house().environment)
    made = Rollouts(attempts=attempts, skill=SKILL, tasks=TASKS, trials=(0, 5))
    assert [(task.id, trial) for task, trial in made.whose()] == [(task.id, t) for t in (0, 5) for task in TASKS]
    assert [work.key for work in made] == [work.key for t in (0, 5) for work in works(bench, trial=t)]
    assert [work.key for work in made[2:4]] == [made[2].key, made[3].key]
    assert len({work.key for work in made}) == len(made) == 6
