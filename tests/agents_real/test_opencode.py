"""The real OpenCode before the scripted model: each run ends in time, with the right outcome.

All runs are made once, four at a time: OpenCode tries a failing request five times again, which no setting changes."""

from __future__ import annotations

import shutil

import pytest

from skillopt.agents.opencode.adapter import OpenCode
from skillopt.agents.program import Cause
from skillopt.agents.settings import AgentSettings
from skillopt.testing.tooluse.script import ScriptTurn, script
from tests.agents_real.programs import installed, ripgrep
from tests.agents_real.stand import DEADLINE, FORBIDDEN_MARK, KEY, MARK, SKILL, Case, Runs, play

PATIENCE = 25.0  # for a run that only its deadline ends
EDIT = script(
    ScriptTurn(text="I see.", sh="cat task.md"),
    ScriptTurn(sh="env"),
    ScriptTurn(sh="echo 42 > answer.txt && cat answer.txt"),
    ScriptTurn(sh="exit 3"),
    ScriptTurn(text="It is 42."),
)
OUTSIDE = script(ScriptTurn(call=("read", {"filePath": "/etc/hostname"})), ScriptTurn(text="I may not."))
CASES = {
    "text": Case(),
    "edit": Case(scenario=EDIT),
    "native": Case(scenario=script(ScriptTurn(skill=SKILL), ScriptTurn(text="I know."))),
    "told": Case(
        scenario=script(ScriptTurn(sh=f"cat .agents/skills/{SKILL}/SKILL.md"), ScriptTurn(text="I know.")),
        agent=AgentSettings(skill="told"),
    ),
    "responses": Case(scenario=EDIT, wire="responses"),
    "messages": Case(scenario=EDIT, wire="messages"),
    "picture": Case(images=True, effort="high"),
    "denied": Case(scenario=OUTSIDE, agent=AgentSettings(sandbox="none")),
    "reading": Case(agent=AgentSettings(files="read", sandbox="none")),
    "asked": Case(agent=None, system="You count the boats."),
    "auth": Case(scenario="echo,kinds=auth"),
    "forbidden": Case(scenario="echo,kinds=forbidden"),
    "unknown_model": Case(scenario="echo,kinds=unknown_model"),
    "context": Case(scenario="echo,kinds=context"),
    "quota": Case(scenario="echo,kinds=quota"),
    "empty": Case(scenario="echo,kinds=empty"),
    "filtered": Case(scenario="echo,kinds=filtered"),
    "length": Case(scenario="echo,kinds=length"),
    "rate_limit once": Case(scenario="echo,at=1:rate_limit"),
    "rate_limit": Case(scenario="echo,kinds=rate_limit"),
    "internal": Case(scenario="echo,kinds=internal", deadline=PATIENCE),
    "cut": Case(scenario="echo,kinds=cut", deadline=PATIENCE),
    "hang": Case(scenario="echo,kinds=hang", seconds=2.0),
    "hang_stream": Case(scenario="echo,kinds=hang_stream", seconds=2.0),
    "unreachable": Case(base_url="http://127.0.0.1:9/v1", deadline=PATIENCE),
}
CAUSES: dict[str, Cause] = {
    "auth": "auth",
    "forbidden": "auth",
    "unknown_model": "refused",
    "context": "context",
    "quota": "quota",
    "empty": "empty",
    "filtered": "filtered",
    "length": "truncated",
    "rate_limit": "rate_limited",
    "internal": "unavailable",
    "cut": "unavailable",
    "hang": "unavailable",
    "hang_stream": "unavailable",
    "unreachable": "unavailable",
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    folder = tmp_path_factory.mktemp("programs")
    (folder / "opencode").symlink_to(installed("opencode").resolve())
    shutil.copy(ripgrep(), folder / "rg")  # it needs one, and finds it beside itself
    return play(OpenCode(), folder / "opencode", CASES)


@pytest.mark.parametrize("name", CASES)
def test_a_run_ends_in_time_with_its_outcome_and_leaves_no_process(runs: Runs, name: str) -> None:
    run = runs[name]
    problem = run.heard.problem
    assert (problem.cause if problem else None) == CAUSES.get(name), problem
    assert run.finished.seconds < CASES[name].deadline + 3
    assert run.finished.timed_out <= (CASES[name].deadline < DEADLINE)
    assert not run.alive
    assert KEY not in run.finished.stdout.decode(errors="replace")


def test_an_answer_comes_with_its_tokens_its_session_and_nothing_of_the_folders_instructions(
    runs: Runs,
) -> None:
    heard = runs["text"].heard
    assert heard.text == "Done."
    assert heard.usage is not None
    assert heard.usage.calls == 1
    assert heard.usage.input_tokens > heard.usage.output_tokens > 0
    assert heard.usage.nano_usd > 0
    assert (heard.requests, heard.skill_opened, heard.task_read) == (1, "no", "no")
    assert heard.session
    (asked,) = runs["text"].asked  # no request for a title
    assert SKILL in asked
    assert FORBIDDEN_MARK not in asked


@pytest.mark.parametrize("name", ["edit", "responses", "messages"])
def test_a_loop_of_tools_changes_a_file_and_never_sees_the_key(runs: Runs, name: str) -> None:
    run = runs[name]
    assert run.files["answer.txt"] == "42\n"
    assert run.heard.text == "It is 42."
    assert run.heard.calls == (("bash", 4),)
    assert run.heard.requests == 5
    assert run.heard.task_read == "yes"
    assert "Write the number." in run.asked[1]  # what a short command says is not lost
    assert [action.status for action in run.heard.actions if action.kind == "ran"] == ["exit 0"] * 3 + ["exit 3"]
    assert KEY not in "".join(run.asked)


def test_a_skill_that_is_found_is_opened_once_though_it_lies_in_two_places(runs: Runs) -> None:
    run = runs["native"]
    assert run.heard.skill_opened == "yes"
    assert run.heard.calls == (("skill", 1),)
    assert MARK not in run.asked[0]
    assert MARK in run.asked[1]


def test_a_skill_that_is_told_is_opened_as_a_file_and_there_is_no_tool_for_it(runs: Runs) -> None:
    run = runs["told"]
    assert run.heard.skill_opened == "yes"
    assert '"name":"skill"' not in run.asked[0].replace(" ", "")
    assert MARK in run.asked[1]


def test_what_may_not_be_done_is_told_and_the_answer_counts_all_the_same(runs: Runs) -> None:
    heard = runs["denied"].heard
    assert heard.text == "I may not."
    assert heard.denied == ("read: /etc/hostname",)


def test_where_files_are_only_read_it_has_no_tool_that_changes_them(runs: Runs) -> None:
    asked = runs["reading"].asked[0].replace(" ", "")
    assert '"name":"read"' in asked
    assert not any(f'"name":"{tool}"' in asked for tool in ("bash", "edit", "write", "task", "webfetch"))


def test_a_picture_and_the_effort_are_sent(runs: Runs) -> None:
    (asked,) = runs["picture"].asked
    assert "image/png" in asked
    assert '"reasoning_effort":"high"' in asked.replace(" ", "")


def test_asked_once_it_has_our_system_text_no_tools_and_no_skill(runs: Runs) -> None:
    (asked,) = runs["asked"].asked
    assert "You count the boats." in asked
    assert "opencode" not in asked.lower().replace("skillopt-real", "").split("working directory")[0]
    assert SKILL not in asked
    assert '"tools":[{' not in asked.replace(" ", "")
    assert runs["asked"].heard.text == "Done."


def test_a_rate_limit_that_passes_is_no_problem(runs: Runs) -> None:
    assert len(runs["rate_limit once"].asked) == 2
    assert runs["rate_limit once"].heard.text


def test_while_it_tries_again_its_log_tells_what_its_output_does_not(runs: Runs) -> None:
    run = runs["internal"]
    assert run.finished.timed_out
    assert run.finished.stdout == b""
    assert run.heard.problem is not None
    assert "The server failed on this request." in run.heard.problem.message
