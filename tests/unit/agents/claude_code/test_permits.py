from __future__ import annotations

import pytest

from skillopt.agents.claude_code.permits import permits
from skillopt.agents.settings import AgentSettings
from skillopt.domain.errors import UsageError


def test_an_agent_that_edits_has_a_shell_and_no_web() -> None:
    found = permits(AgentSettings())
    assert found.tools == ("Read", "Glob", "Grep", "Edit", "Write", "Bash", "Skill")
    assert (found.mode, found.forbidden) == ("dontAsk", ("WebFetch", "WebSearch"))


def test_an_agent_that_reads_has_nothing_that_writes() -> None:
    found = permits(AgentSettings(files="read"))
    assert found.tools == ("Read", "Glob", "Grep", "Skill")
    assert {"Edit", "Write", "NotebookEdit", "Bash"} <= set(found.forbidden)


def test_a_skill_that_is_told_of_needs_no_tool() -> None:
    assert "Skill" not in permits(AgentSettings(skill="told")).tools


def test_the_web_is_granted_by_name() -> None:
    found = permits(AgentSettings(network=True, web_search=True))
    assert {"WebFetch", "WebSearch"} <= set(found.tools)
    assert not found.forbidden


def test_named_tools_stand_alone_but_for_the_skill() -> None:
    found = permits(AgentSettings(tools=("Read", "Bash(git *)", "Bash(ls *)"), files="read"))
    assert found.allowed == ("Read", "Bash(git *)", "Bash(ls *)", "Skill")
    assert found.tools == ("Read", "Bash", "Skill")
    assert "Bash" not in found.forbidden
    assert permits(AgentSettings(tools=("Skill(x)",))).allowed == ("Skill(x)",)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (AgentSettings(tools=("WebFetch",)), r"agent\.tools names WebFetch, which agent\.network: false forbids"),
        (AgentSettings(tools=("WebSearch",)), r"agent\.web_search: false"),
        (AgentSettings(tools=("Bash",), files="read"), r"agent\.files: read"),
        (AgentSettings(permission="bypassPermissions"), r"agent\.permission: bypassPermissions is not offered"),
        (AgentSettings(permission="dontask"), r"Unknown agent\.permission .* Did you mean 'dontAsk'"),
    ],
)
def test_what_contradicts_itself_is_refused(settings: AgentSettings, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        permits(settings)
