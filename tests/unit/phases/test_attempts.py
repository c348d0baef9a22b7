from __future__ import annotations

import asyncio

import msgspec
import pytest

from skillopt.domain.agency.errands import Errand
from skillopt.domain.agency.transcripts import Transcript
from skillopt.domain.chat import Message, ModelIdentity, Reply
from skillopt.domain.errors import UsageError
from skillopt.domain.judging import Unassessed, Unexamined, Unjudged
from skillopt.domain.scores import Score
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import Task
from skillopt.domain.usage import Usage
from skillopt.kernel.ports import Agent
from skillopt.kernel.work import Ask
from skillopt.phases.attempts import Commission, Prompted, Sent
from skillopt.phases.rollout import Rollouts
from skillopt.testing.environments.office import Office
from skillopt.testing.scripted import ScriptedChat
from tests.simulation.house import house
from tests.unit.kernel.bench import Bench

TASKS = house().environment.tasks.val[:3]
SKILL = Skill.from_text("# Rules\n\nBe brief.\n")
WORST = Usage(calls=2, output_tokens=700)
IDENTITY = ModelIdentity(backend="mender 1.0", address="here", model="m", sampling="{}")


def test_a_repeat_is_sent_with_a_variant_of_the_text_only_where_that_is_wanted() -> None:
    bench = Bench(ScriptedChat("echo"))

    def asked(trial: int, *, varied: bool) -> str:
        attempts = Prompted(asker=bench.asker, environment=house().environment, varied=varied)
        work = Rollouts(attempts=attempts, skill=SKILL, tasks=TASKS, trials=(trial,))[0]
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
    attempts = Prompted(asker=Bench(ScriptedChat("echo")).asker, environment=office)
    made = Rollouts(attempts=attempts, skill=SKILL, tasks=office.tasks.val)
    assert made[0].key
    with pytest.raises(UsageError, match="Putting task 'val-00002' broke with KeyError"):
        assert made[1].key


class Mender:
    """An agent that says which skill it was sent with, and is sent on what its environment words."""

    def __init__(self, identity: ModelIdentity = IDENTITY) -> None:
        self.identity = identity

    def worst(self, errand: Errand) -> Usage:
        """Return a number to know again."""
        del errand
        return WORST

    async def run(self, errand: Errand) -> Reply:
        """Say what it was sent with."""
        return Reply(text=f"{errand.instruction} by {errand.skill.name}", usage=Usage(calls=1))

    async def close(self) -> None:
        """Nothing is held open."""


class Errands:
    """Words the errand of a task; one of them it cannot."""

    def errand(self, task: Task, skill: Skill) -> Errand:
        """Return the task's own words."""
        if task.id == "broken":
            raise KeyError(task.id)
        return Errand(instruction=str(task.input), skill=skill)

    def grade_work(self, task: Task, reply: str, transcript: Transcript) -> Score | Unjudged | Unassessed | Unexamined:
        """Nobody grades here."""
        raise NotImplementedError


def key(
    task: Task = TASKS[0], *, skill: Skill = SKILL, trial: int = 0, agent: Agent = Mender(), version: str = "1"
) -> bytes:
    return Sent(agent, Errands(), version=version).attempt(task, skill, trial).key


def test_the_same_errand_and_trial_are_the_same_work_wherever_they_are_made() -> None:
    renamed = msgspec.structs.replace(TASKS[0], id="another", reference="another")
    assert key() == key() == key(renamed, agent=Mender())


def test_whatever_may_change_what_an_agent_does_is_another_work() -> None:
    others = [
        key(TASKS[1]),
        key(trial=1),
        key(skill=Skill.from_text("# Rules\n\nBe long.\n")),
        key(version="2"),
        *(
            key(agent=Mender(msgspec.structs.replace(IDENTITY, **{name: "another"})))
            for name in ModelIdentity.__struct_fields__
        ),
    ]
    assert len({key(), *others}) == len(others) + 1


def test_sending_an_agent_is_the_work_of_the_target_reserved_at_its_worst() -> None:
    work = Sent(Mender(), Errands(), version="1").attempt(TASKS[0], SKILL, 0)
    assert isinstance(work, Commission)
    assert (work.role, work.account, work.worst()) == ("target", IDENTITY.account, WORST)
    assert asyncio.run(work.perform()).text == f"{TASKS[0].input} by {SKILL.name}"


def test_an_errand_that_cannot_be_worded_is_the_slip_of_its_environment() -> None:
    with pytest.raises(UsageError, match="Sending an agent with task 'broken' broke with KeyError"):
        key(Task(id="broken", input="?"))
