from __future__ import annotations

import asyncio

import msgspec
import pytest

from skillopt.domain.agency.errands import Errand
from skillopt.domain.errors import AgentTimeoutError, UnavailableError
from skillopt.domain.skill import Skill
from skillopt.testing.agents.scripted import ScriptedAgent
from skillopt.testing.clock import run_virtual
from skillopt.testing.conversation import BrainReply
from skillopt.testing.faults import FaultKind
from skillopt.testing.worlds import RULES, rules_world

TASK = next(task for task in rules_world(1, 30, 0, 0).train if "[needs:" in task.input)
ERRAND = Errand(instruction=TASK.input, skill=Skill.from_text("# Nothing yet\n"))


def test_it_does_better_with_a_skill_that_says_the_rules() -> None:
    agent = ScriptedAgent("rules")
    told = Skill.from_text("\n".join(rule.sentence for rule in RULES.rules))
    assert "[violated:" in asyncio.run(agent.run(ERRAND)).text
    reply = asyncio.run(agent.run(msgspec.structs.replace(ERRAND, skill=told)))
    assert reply.text == f"<answer>{TASK.reference}</answer>"
    assert reply.transcript is not None
    assert [action.text for action in reply.transcript.actions] == [reply.text]
    assert (agent.runs, agent.in_flight) == (2, 0)


def test_one_whose_model_is_down_fails() -> None:
    with pytest.raises(UnavailableError):
        asyncio.run(ScriptedAgent("always-fails").run(ERRAND))


def test_one_that_never_answers_is_ended_at_its_deadline() -> None:
    silent = ScriptedAgent(lambda _: BrainReply(fault=FaultKind.HANG), timeout=9.0)
    with pytest.raises(AgentTimeoutError, match="after 9 s"):
        run_virtual(silent.run(ERRAND))
    assert silent.in_flight == 0
