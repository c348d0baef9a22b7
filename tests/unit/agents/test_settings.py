from __future__ import annotations

import msgspec
import pytest

from skillopt.agents.settings import AgentSettings, CliSettings


@pytest.mark.parametrize("wrong", [{"empty_retries": -1}, {"timeout": 0}, {"at_once": 0}, {"most_tokens": 0}])
def test_bounds_of_an_agent_are_checked(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be"):
        msgspec.convert(wrong, AgentSettings)


def test_a_data_folder_has_a_plain_name() -> None:
    with pytest.raises(ValueError, match=r"data_dirs has \.\./x"):
        AgentSettings(data_dirs={"../x": "docs"})


def test_bounds_of_a_model_are_checked() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        CliSettings(max_tokens=0)
