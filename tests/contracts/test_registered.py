"""Whatever a config can name has passed the contract of its port."""

from __future__ import annotations

import typing

from skillopt.app.config import Model
from skillopt.testing.chat_contract import ChatContract
from tests.contracts import test_chat_contract as suites

TESTED = {
    "openai": "TestOpenAIChat",
    "completions": "TestCompletions",
    "azure": "TestAzure",
    "anthropic": "TestAnthropic",
    "function": "TestFunctionChat",
    "handoff": "TestHandoff",
    "scripted": "TestScriptedChat",
}


def test_every_backend_a_config_can_name_is_in_the_contract_suite() -> None:
    named = {model.__struct_config__.tag for model in typing.get_args(Model)}
    assert named == set(TESTED)
    for suite in TESTED.values():
        assert issubclass(getattr(suites, suite), ChatContract)
