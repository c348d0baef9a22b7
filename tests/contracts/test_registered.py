"""Whatever a config can name has passed the contract of its port."""

from __future__ import annotations

import typing
from pathlib import Path

from skillopt.agents.settings import CliSettings
from skillopt.app.config import Model
from skillopt.app.programs.adapters import ADAPTERS
from skillopt.testing.agents.contract import AgentContract
from skillopt.testing.chat_contract import ChatContract
from tests.contracts import test_agent_contract as agents
from tests.contracts import test_chat_contract as suites

TESTED = {
    "openai": "TestOpenAIChat",
    "completions": "TestCompletions",
    "azure": "TestAzure",
    "anthropic": "TestAnthropic",
    "function": "TestFunctionChat",
    "handoff": "TestHandoff",
    "scripted": "TestScriptedChat",
    # each is asked once by the same CliChat; what its own program says is read in its adapter's tests
    "codex": "TestCliChat",
    "claude_code": "TestCliChat",
    "copilot": "TestCliChat",
    "opencode": "TestCliChat",
    "cursor": "TestCliChat",
}
UNTRIED = {"cursor"}  # its program is in no registry, so no run of it is here


def test_every_backend_a_config_can_name_is_in_the_contract_suite() -> None:
    named = {model.__struct_config__.tag for model in typing.get_args(Model)}
    assert named == set(TESTED)
    for suite in TESTED.values():
        assert issubclass(getattr(suites, suite), ChatContract)


def test_every_program_a_config_can_name_runs_under_the_agent_that_is_in_the_contract_suite() -> None:
    programs = {model.__struct_config__.tag for model in typing.get_args(Model) if issubclass(model, CliSettings)}
    assert programs == set(ADAPTERS)
    assert issubclass(agents.TestCliAgent, AgentContract)
    real = Path(__file__).parents[1] / "agents_real"
    assert {name for name in programs if not (real / f"test_{name}.py").is_file()} == UNTRIED
