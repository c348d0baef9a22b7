from __future__ import annotations

import msgspec
import pytest

from skillopt.agents.cursor.starting import command
from skillopt.agents.program import Job
from skillopt.domain.errors import UsageError
from tests.unit.agents.endings import JOB, MODEL, agent_job

OWN = msgspec.structs.replace(MODEL, base_url=None)


def own(job: Job = JOB, **changes: object) -> Job:
    return msgspec.structs.replace(job, model=OWN, **changes)


def test_all_is_allowed_only_where_files_may_change() -> None:
    confined = command(own())
    assert confined.args[-3:] == ("--sandbox", "disabled", "--force")
    assert command(own(agent_job(sandbox="none"))).args[-3:] == ("--sandbox", "enabled", "--force")
    assert command(own(agent_job(files="read"))).args[-2:] == ("--mode", "ask")
    assert confined.env["CURSOR_API_KEY"] == "a-key"
    assert confined.stdin == b"Do it."


def test_asked_once_it_may_not_even_read() -> None:
    made = command(own(agent=None, system="Be brief."))
    assert made.args[-2:] == ("--mode", "ask")
    assert "Read(**)" in made.home_files[".cursor/cli-config.json"]
    assert made.stdin == b"Be brief.\n\nDo it."


@pytest.mark.parametrize(
    ("job", "named"),
    [
        (JOB, "base_url"),
        (own(images=("a.png",)), "images"),
        (own(schema="{}"), "agent.structured"),
        (own(effort="high"), "effort"),
        (own(agent_job(tools=["Read"])), "agent.tools"),
        (own(agent_job(mode="sdk")), "agent.mode"),
    ],
)
def test_what_it_cannot_be_told_is_refused_by_its_key(job: Job, named: str) -> None:
    with pytest.raises(UsageError, match=named):
        command(job)
