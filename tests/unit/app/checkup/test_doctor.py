from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from skillopt.app.checkup.agents import programs_here
from skillopt.app.checkup.doctor import examine
from skillopt.app.checkup.finding import Finding
from skillopt.app.environ import variables
from skillopt.app.programs.adapters import ADAPTERS
from skillopt.app.project.prepare import prepare
from skillopt.app.project.trust import Trust
from skillopt.testing.server.embedded import ThreadedServer, serve_in_thread
from tests.unit.app.programs_at_work import codex_on_path
from tests.unit.app.projects import over_http, settings, write_project

SECRET = "ghp_" + "a1B2c3D4e5F6" * 3


@pytest.fixture
def server() -> Iterator[ThreadedServer]:
    with serve_in_thread() as running:
        yield running


def examined(config: Path | None, *, call: bool = False) -> dict[str, Finding]:
    findings = asyncio.run(examine(config, environ={}, call=call))
    return {finding.check: finding for finding in findings}


def test_without_a_config_only_the_machine_is_looked_at() -> None:
    found = examined(None)
    agents = [f"agents.{name}" for name in ADAPTERS]
    assert list(found) == ["python", "sandbox", *agents, "config"]
    assert "to install it: npm install" in found["agents.codex"].says
    assert found["python"].ok is True
    assert found["config"].ok is None


def with_codex(folder: Path, monkeypatch: pytest.MonkeyPatch, answer: str) -> Path:
    target = codex_on_path(folder, monkeypatch, answer)
    models = {"target": target, "optimizer": {"backend": "scripted", "scenario": "rules"}}
    sections = settings(environment={"kind": "agent", "path": "tasks"}, agent={"sandbox": "none"}, models=models)
    return write_project(folder, sections)


def test_a_program_is_told_with_its_version_its_place_and_whether_somebody_is_logged_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    codex_on_path(tmp_path, monkeypatch)
    environ = {"PATH": str(tmp_path / "programs"), "HOME": str(tmp_path)}
    (codex,) = [each for each in asyncio.run(programs_here(environ)) if each.check == "agents.codex"]
    assert codex.ok is True
    assert codex.says.startswith(f"0.169.0 at {tmp_path}/programs/codex (a script that starts something else")
    assert codex.says.endswith("; no login of yours was found")
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "auth.json").write_text("{}")
    (codex,) = [each for each in asyncio.run(programs_here(environ)) if each.check == "agents.codex"]
    assert codex.says.endswith("; you are logged in to it")


def test_an_agent_waits_for_a_word_is_not_sent_and_is_sent_when_asked_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = with_codex(tmp_path, monkeypatch, 'return "ready"')

    def agent(*, call: bool) -> Finding:
        found = {each.check: each for each in asyncio.run(examine(config, environ=variables(), call=call))}
        assert "models.target" not in found
        return found["agent"]

    waiting = agent(call=False)
    assert (waiting.ok, waiting.says.startswith("waits for your word (--trust): the agent unconfined")) == (None, True)
    for asked in prepare(config, environ={}).asked:
        Trust.of(variables()).grant(asked)
    here = "codex 0.169.0, not confined; it is given no key"
    assert agent(call=False).says == f"{here}; not sent (--call has it say one word)"
    sent = agent(call=True)
    assert (sent.ok, sent.says.startswith(f"{here}; answered in ")) == (True, True)


def test_an_agent_that_fails_is_told_in_its_own_words_and_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = with_codex(tmp_path, monkeypatch, "return None")
    for asked in prepare(config, environ={}).asked:
        Trust.of(variables()).grant(asked)
    found = {each.check: each for each in asyncio.run(examine(config, environ=variables(), call=True))}
    assert found["agent"].ok is False
    assert "; codex: Codex ended with exit code 9 and said nothing. Run it by hand" in found["agent"].says


def test_nothing_is_asked_without_call(server: ThreadedServer, tmp_path: Path) -> None:
    found = examined(write_project(tmp_path, settings(models=over_http(server.url("echo")))))
    assert [found[check].ok for check in ("config", "tasks")] == [True, True]
    assert found["tasks"].says == "train 12, val 6, test 4"
    assert [found[f"models.{role}"].ok for role in ("target", "optimizer")] == [None, None]
    assert server.log("echo") == ()
    assert not (tmp_path / ".skillopt").exists()


def test_call_asks_each_model_once(server: ThreadedServer, tmp_path: Path) -> None:
    found = examined(write_project(tmp_path, settings(models=over_http(server.url("echo")))), call=True)
    assert [found[f"models.{role}"].ok for role in ("target", "optimizer")] == [True, True]
    assert [request.model for request in server.log("echo")] == ["target", "opt"]


def test_a_refused_key_is_found_for_its_role(server: ThreadedServer, tmp_path: Path) -> None:
    models = {**over_http(server.url("echo")), "optimizer": over_http(server.url("echo,kinds=auth"))["optimizer"]}
    found = examined(write_project(tmp_path, settings(models=models)), call=True)
    assert found["models.target"].ok is True
    assert found["models.optimizer"].ok is False
    assert "opt at http://127.0.0.1" in found["models.optimizer"].says


def test_a_config_that_cannot_be_used_is_the_last_thing_looked_at(tmp_path: Path) -> None:
    found = examined(write_project(tmp_path, settings(train={"epohcs": 3})), call=True)
    assert list(found) == ["python", "sandbox", "config"]
    assert found["config"].ok is False
    assert "Did you mean 'epochs'?" in found["config"].says


def test_odd_tasks_and_an_odd_skill_are_notes(tmp_path: Path) -> None:
    path = write_project(tmp_path, settings(skill="house"))
    (tmp_path / "house").mkdir()
    (tmp_path / "house" / "SKILL.md").write_text(f"---\nname: other\ndescription: d\n---\n{SECRET}\n")
    with (tmp_path / "tasks" / "train.jsonl").open("a") as rows:
        rows.write('{"id": "torn", "inp')
    findings = asyncio.run(examine(path, environ={}, call=False))
    notes = [finding.says for finding in findings if finding.ok is None]
    assert any("cut off in the middle" in note for note in notes)
    assert any("SKILL.md holds what looks like a secret" in note for note in notes)
    assert any(finding.check == "skill" and "name" in finding.says for finding in findings)
    assert SECRET not in json.dumps([finding.says for finding in findings])


def test_a_missing_variable_is_named_without_a_call_being_made(server: ThreadedServer, tmp_path: Path) -> None:
    models = over_http(server.url("echo"), api_key="${NOT_SET_ANYWHERE}")
    found = examined(write_project(tmp_path, settings(models=models)), call=True)
    assert found["models.target"].ok is False
    assert "NOT_SET_ANYWHERE is not set" in found["models.target"].says
    assert server.log("echo") == ()


def with_rubrics(folder: Path, count: int) -> None:
    with (folder / "tasks" / "train.jsonl").open("a") as rows:
        for number in range(count):
            rows.write(json.dumps({"id": f"kind-{number}", "input": f"{number}?", "rubric": "Is it kind?"}) + "\n")


def test_tasks_that_take_a_judge_are_named_and_so_is_the_judge(tmp_path: Path) -> None:
    path = write_project(tmp_path, settings(judge={"repeats": 3}))
    assert "judge" not in examined(path)
    with_rubrics(tmp_path, 5)
    found = examined(path)["judge"]
    assert found.ok is True
    assert (
        found.says
        == "5 tasks have a rubric (kind-0, kind-1, kind-2, …), each answer judged 3 times by the optimizer's model"
    )


def test_a_judge_of_its_own_is_asked_too(server: ThreadedServer, tmp_path: Path) -> None:
    judge = {"backend": "openai", "base_url": server.url("echo"), "model": "judge"}
    models = {**over_http(server.url("echo")), "judge": judge}
    path = write_project(tmp_path, settings(models=models))
    assert "never asked" in examined(path)["judge"].says
    with_rubrics(tmp_path, 1)
    found = examined(path, call=True)
    assert "judged once by models.judge" in found["judge"].says
    assert found["models.judge"].ok is True
    assert [request.model for request in server.log("echo")] == ["target", "opt", "judge"]


def test_the_program_that_grades_is_named_with_what_it_still_needs(tmp_path: Path) -> None:
    command = {"run": ["sh", "grade.sh"], "files": ["grade.sh"], "verdict": "exit"}
    environment = {"path": "tasks", "grader": "command", "command": command}
    path = write_project(tmp_path, settings(environment=environment))
    (tmp_path / "grade.sh").write_text("true")
    found = examined(path)
    assert "`sh grade.sh` with grade.sh" in found["command"].says
    if found["sandbox"].ok:
        assert found["command"].ok is None
        assert "--trust" in found["command"].says
    else:
        assert found["command"].ok is False
        assert "none holds here" in found["command"].says
    assert "command" not in examined(write_project(tmp_path / "plain"))


def test_a_missing_variable_is_found_without_a_call(tmp_path: Path) -> None:
    models = over_http("http://127.0.0.1:1/v1", api_key="${NOT_SET_ANYWHERE}")
    found = examined(write_project(tmp_path, settings(models=models)))
    assert found["models.target"].ok is False
    assert "NOT_SET_ANYWHERE is not set" in found["models.target"].says


def test_a_handoff_is_not_asked(tmp_path: Path) -> None:
    by_hand = {"backend": "handoff", "folder": "inbox"}
    models = {"target": by_hand, "optimizer": by_hand}
    found = examined(write_project(tmp_path, settings(models=models)), call=True)
    assert found["models.optimizer"].ok is None
    assert "inbox/pending.json" in found["models.optimizer"].says
    assert not (tmp_path / "inbox").exists()


def test_a_model_is_asked_with_the_settings_of_the_run(server: ThreadedServer, tmp_path: Path) -> None:
    models = over_http(server.url("echo"), max_tokens=777)
    examined(write_project(tmp_path, settings(models=models)), call=True)
    assert [json.loads(request.body)["max_tokens"] for request in server.log("echo")] == [777, 777]


def test_a_program_that_a_project_names_is_not_started_before_it_is_allowed_not_even_for_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark, program = tmp_path / "started", tmp_path / "mine"
    program.write_text(f"#!/bin/sh\necho started >> {mark}\necho codex-cli 9.9.9\n")
    program.chmod(0o755)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    asked = {"backend": "codex", "model": "m", "base_url": "http://127.0.0.1:1/v1", "path": str(program)}
    scripted = {"backend": "scripted", "scenario": "rules"}
    config = write_project(tmp_path, settings(models={"target": scripted, "optimizer": asked}))

    def optimizer() -> Finding:
        found = {each.check: each for each in asyncio.run(examine(config, environ=variables(), call=False))}
        return found["models.optimizer"]

    waiting = optimizer()
    assert (waiting.ok, waiting.says.startswith("waits for your word (--trust): the program")) == (None, True)
    assert not mark.exists()
    for each in prepare(config, environ={}).asked:
        Trust.of(variables()).grant(each)
    assert "codex 9.9.9" in optimizer().says
    assert mark.read_text() == "started\n", "one look is enough"
