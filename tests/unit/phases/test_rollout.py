from __future__ import annotations

from skillopt.domain.rollouts import Answered, Failed, Rollout
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import Task
from skillopt.kernel.run import Run
from skillopt.phases.rollout import Rollouts, rollout
from skillopt.testing.conversation import BrainReply, Conversation
from skillopt.testing.faults import FaultKind
from skillopt.testing.scripted import ScriptedChat
from tests.simulation.house import house
from tests.unit.kernel.bench import Bench

TASKS = house().environment.tasks.val[:3]
SKILL = Skill.from_text("---\nname: x\n---\n# Rules\n\n<!-- APPENDIX_START -->\n<!-- APPENDIX_END -->\n")


def works(bench: Bench, tasks: tuple[Task, ...] = TASKS, *, skill: Skill = SKILL, trial: int = 0) -> Rollouts:
    return Rollouts(asker=bench.asker, environment=house().environment, skill=skill, tasks=tasks, trial=trial)


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

    async def work(run: Run) -> tuple[Rollout, ...]:
        return await rollout(run, "p", works(bench, trial=2), TASKS, 2)

    first, second, third = bench.live(work)
    assert first == Answered(task_id=TASKS[0].id, trial=2, text=str(TASKS[0].input))
    assert third == Answered(task_id=TASKS[2].id, trial=2, text=str(TASKS[2].input))
    assert isinstance(second, Failed)
    assert (second.task_id, second.trial, second.failure.who) == (TASKS[1].id, 2, "provider")
