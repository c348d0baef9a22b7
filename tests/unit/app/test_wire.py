from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from skillopt.agents.finding import Program
from skillopt.app.programs.teams import Programs
from skillopt.app.project.prepare import prepare
from skillopt.app.wire import Crew
from skillopt.domain.chat import Message
from skillopt.domain.errors import UsageError
from skillopt.kernel.work import STAGES
from tests.unit.app.projects import as_dict, over_http, settings, write_project

HELLO = (Message("user", "hello"),)


def staffed(folder: Path, judge: dict[str, object]) -> dict[str, tuple[str, str, str]]:
    models = settings()["models"]
    assert isinstance(models, dict)
    path = write_project(folder, settings(models={**models, "judge": judge}))

    async def asked() -> dict[str, tuple[str, str, str]]:
        crew = Crew(prepare(path, environ={}))
        try:
            asks = {stage: crew.staff.at(stage).ask(HELLO) for stage in STAGES}
            return {
                stage: (crew.staff.at(stage).verb, ask.role, ask.chat.identity.model) for stage, ask in asks.items()
            }
        finally:
            await crew.close()

    return asyncio.run(asked())


def test_the_target_does_the_tasks_and_the_optimizer_all_else(tmp_path: Path) -> None:
    staff = staffed(tmp_path, {"use": "optimizer"})
    assert staff.pop("rollout") == ("rollout", "target", "target-scripted")
    assert staff.pop("judge") == ("judge", "judge", "opt-scripted")
    assert staff
    assert all(who == (stage, "optimizer", "opt-scripted") for stage, who in staff.items())


def test_a_stage_has_its_own_settings_and_shares_the_rest(tmp_path: Path) -> None:
    models = over_http("http://127.0.0.1:1/v1")
    optimizer = as_dict(models["optimizer"]) | {
        "stages": {"rewrite": {"max_tokens": 64000, "reasoning_effort": "high"}, "merge": {"max_tokens": 9}}
    }
    path = write_project(tmp_path, settings(models={**models, "optimizer": optimizer}))

    async def asked() -> None:
        crew = Crew(prepare(path, environ={}))
        asks = {stage: crew.staff.at(stage).ask(HELLO) for stage in STAGES}
        assert (asks["rewrite"].request.max_tokens, asks["merge"].request.max_tokens) == (64000, 9)
        assert "high" in asks["rewrite"].chat.identity.sampling
        assert asks["merge"].chat.identity == asks["reflect"].chat.identity
        assert asks["reflect"].chat is asks["rank"].chat
        assert {ask.account for ask in asks.values()} == {"openai http://127.0.0.1:1/v1"}
        await crew.close()

    asyncio.run(asked())


@pytest.mark.parametrize(
    ("role", "stage", "whose"),
    [("target", "rewrite", "optimizer"), ("optimizer", "rollout", "target"), ("target", "judge", "optimizer")],
)
def test_a_stage_that_never_asks_a_model_is_refused(tmp_path: Path, role: str, stage: str, whose: str) -> None:
    models = over_http("http://127.0.0.1:1/v1")
    changed = {**models, role: as_dict(models[role]) | {"stages": {stage: {"max_tokens": 9}}}}
    with pytest.raises(UsageError, match=f"{role}.stages.{stage}: that stage asks the {whose}"):
        prepare(write_project(tmp_path, settings(models=changed)), environ={})


def test_the_target_may_judge(tmp_path: Path) -> None:
    assert staffed(tmp_path, {"use": "target"})["judge"] == ("judge", "judge", "target-scripted")


def test_a_judge_of_its_own_is_asked_for_nothing_else(tmp_path: Path) -> None:
    staff = staffed(tmp_path, {"backend": "scripted", "scenario": "rules"})
    assert staff.pop("judge") == ("judge", "judge", "judge-scripted")
    assert "judge-scripted" not in {model for _, _, model in staff.values()}


def test_a_tool_that_this_machine_has_as_a_program_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    target = {"backend": "codex", "base_url": "http://127.0.0.1:1/v1", "api_key": "none", "model": "m"}
    config = settings(
        environment={"kind": "agent", "path": "tasks"},
        agent={"sandbox": "none"},
        models={"target": target, "optimizer": {"backend": "scripted", "scenario": "rules"}},
    )
    path = write_project(tmp_path, config)
    with (tmp_path / "tasks" / "val.jsonl").open("a") as tasks:
        tasks.write('{"id": "berth", "input": "Which?", "checks": [{"op": "tool_called", "arg": "tide-table"}]}\n')
    own = tmp_path / "bin" / "tide-table"
    found = Program(path=Path("/bin/sh"), version="1", readable=(), search=str(own.parent))
    programs = Programs(found={("codex", None): found})
    prepared = prepare(path, environ={})
    assert Crew(prepared, programs).agent is not None
    own.parent.mkdir()
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    with pytest.raises(UsageError, match=r"Task 'berth' wants a tool named 'tide-table'.*has a program"):
        Crew(prepared, programs)
