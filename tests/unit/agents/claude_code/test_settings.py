from __future__ import annotations

import msgspec
import pytest

from skillopt.agents.claude_code.settings import ClaudeCodeSettings


@pytest.mark.parametrize("wrong", [{"wire": "chat"}, {"effort": "hard"}, {"max_tokens": 0}])
def test_what_the_program_cannot_do_is_refused_in_the_config(wrong: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError, match=r"messages|one of low|at least 1"):
        msgspec.convert({"backend": "claude_code", **wrong}, ClaudeCodeSettings)


def test_its_own_wire_and_efforts_are_taken() -> None:
    settings = msgspec.convert({"backend": "claude_code", "wire": "messages", "effort": "max"}, ClaudeCodeSettings)
    assert (settings.wire, settings.effort) == ("messages", "max")
