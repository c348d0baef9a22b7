"""Real agents driven by their makers' SDKs, before the scripted model: the same outcomes as by their command lines.

The SDK runs in a process of its own, inside our sandbox where there is one, and nothing of it is left behind."""

from __future__ import annotations

import json
import os
import sysconfig

import msgspec
import pytest

from skillopt.agents.claude_code.adapter import ClaudeCode
from skillopt.agents.codex.adapter import Codex
from skillopt.agents.program import Adapter, Cause
from skillopt.agents.settings import AgentSettings
from skillopt.testing.tooluse.script import ScriptTurn, script
from tests.agents_real.product import Product
from tests.agents_real.programs import installed, sdk_python
from tests.agents_real.stand import EASY, KEY, MARK, SKILL, Case, Runs, play

ALONE = AgentSettings(mode="sdk", sandbox="none")
BOXED = AgentSettings(mode="sdk")
SCHEMA = '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}'
WORK = script(
    ScriptTurn(sh="cat task.md"),
    ScriptTurn(sh="printf 'n=%s\\n' $(( 6 * 7 )) > number.txt; env > seen.txt; exit 3"),
    ScriptTurn(text="Done."),
)
SHORT = 6.0  # seconds after which a run that hangs is ended
CASES = {
    "plain": Case(scenario=EASY),
    "work": Case(scenario=WORK),
    "skill": Case(scenario=script(ScriptTurn(skill=SKILL), ScriptTurn(text="Done."))),
    "schema": Case(scenario=script(ScriptTurn(struct={"n": 7}), ScriptTurn(text="Done.")), schema=SCHEMA),
    "auth": Case(scenario=f"{EASY},kinds=auth"),
    "hang": Case(scenario=f"{EASY},kinds=hang", seconds=60.0, deadline=SHORT),
}
ALONE_ONLY = {
    "image": Case(scenario=EASY, agent=ALONE, images=True),
    "flood": Case(
        scenario=script(ScriptTurn(sh="head -c 300000 /dev/zero | tr '\\0' x"), ScriptTurn(text="Done.")), agent=ALONE
    ),
    "effort": Case(scenario=EASY, agent=ALONE, effort="low"),
    "unknown_model": Case(scenario=f"{EASY},kinds=unknown_model", agent=ALONE),
    "rate_limit": Case(scenario=f"{EASY},kinds=rate_limit", agent=ALONE),
    "internal": Case(scenario=f"{EASY},kinds=internal", agent=ALONE),
    "cut": Case(scenario=f"{EASY},kinds=cut", agent=ALONE),
    "unreachable": Case(scenario=EASY, base_url="http://127.0.0.1:9/v1", agent=ALONE, deadline=30.0),
    "silent": Case(scenario=f"{EASY},kinds=hang_stream", agent=ALONE, seconds=4.0),
}
WHERE = pytest.mark.parametrize("where", ["alone", "boxed"])
PROGRAMS: dict[str, tuple[Adapter, str, ScriptTurn]] = {  # with a call that may not be made
    "claude_code": (ClaudeCode(), "claude", ScriptTurn(call=("Bash", {"command": "rm task.md", "description": "x"}))),
    "codex": (Codex(), "codex", ScriptTurn(sh="rm task.md")),
}


@pytest.fixture(scope="module", params=sorted(PROGRAMS))
def runs(request: pytest.FixtureRequest) -> Runs:
    adapter, program, refused = PROGRAMS[request.param]
    path = installed(program)
    everywhere = {
        f"{where}/{name}": msgspec.structs.replace(case, agent=agent)
        for name, case in CASES.items()
        for where, agent in (("alone", ALONE), ("boxed", BOXED))
    }
    reader = msgspec.structs.replace(ALONE, files="read")
    denied = Case(scenario=script(refused, ScriptTurn(text="Done.")), agent=reader)
    cases = everywhere | ALONE_ONLY | {"denied": denied}
    return play(adapter, path.parent.resolve() / path.name, cases, python=sdk_python())


def cause(runs: Runs, name: str) -> Cause | None:
    problem = runs[name].heard.problem
    return None if problem is None else problem.cause


@WHERE
def test_a_plain_answer_with_its_tokens(runs: Runs, where: str) -> None:
    ran = runs[f"{where}/plain"]
    assert (ran.heard.text, ran.heard.problem, ran.finished.exit_code) == ("Done.", None, 0), ran.finished
    assert (ran.heard.requests, len(ran.asked)) == (1, 1)
    assert ran.heard.usage is not None
    assert ran.heard.usage.input_tokens > 0
    assert ran.heard.usage.nano_usd > 0
    assert (ran.heard.skill_opened, ran.heard.task_read) == ("no", "no")
    assert ran.heard.session


@WHERE
def test_a_tool_loop_edits_a_file_and_its_commands_do_not_see_the_key(runs: Runs, where: str) -> None:
    ran = runs[f"{where}/work"]
    assert ran.files["number.txt"] == "n=42\n"
    assert KEY not in ran.files["seen.txt"]
    assert [each.status for each in ran.heard.actions if each.kind == "ran"][1] == "exit 3"
    assert (sum(count for _, count in ran.heard.calls), ran.heard.task_read, ran.heard.text) == (2, "yes", "Done.")
    assert ran.heard.requests == len(ran.asked) == 3


@WHERE
def test_the_skill_of_the_folder_is_found_and_used(runs: Runs, where: str) -> None:
    ran = runs[f"{where}/skill"]
    assert ran.heard.skill_opened == "yes"
    assert "When the tide comes." in ran.asked[0]
    assert MARK not in ran.asked[0]
    assert MARK in ran.asked[1]


@WHERE
def test_an_answer_by_a_schema(runs: Runs, where: str) -> None:
    ran = runs[f"{where}/schema"]
    assert (json.loads(ran.heard.text), ran.heard.problem) == ({"n": 7}, None)
    assert not ran.heard.calls


@WHERE
def test_a_key_that_is_refused(runs: Runs, where: str) -> None:
    ran = runs[f"{where}/auth"]
    assert (cause(runs, f"{where}/auth"), ran.heard.text) == ("auth", "")
    assert len(ran.asked) <= 2  # Codex tries once more, as it does by its command line
    assert ran.heard.problem is not None
    assert KEY not in ran.heard.problem.message


@WHERE
def test_what_hangs_is_ended_at_the_deadline_with_all_that_it_started(runs: Runs, where: str) -> None:
    assert runs[f"{where}/hang"].finished.timed_out


def test_nothing_is_left_behind(runs: Runs) -> None:
    assert {name: ran.alive for name, ran in runs.items() if ran.alive} == {}


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("unknown_model", "refused"),
        ("rate_limit", "rate_limited"),
        ("internal", "unavailable"),
        ("cut", "unavailable"),
        ("silent", "unavailable"),
    ],
)
def test_a_model_that_fails_is_told_as_who_must_act(runs: Runs, name: str, wanted: Cause) -> None:
    assert (cause(runs, name), runs[name].heard.text) == (wanted, ""), runs[name].finished


def test_a_server_that_is_not_there_is_told_or_ends_with_the_deadline(runs: Runs) -> None:
    assert (cause(runs, "unreachable"), runs["unreachable"].asked) == ("unavailable", ())


def test_a_denied_tool_changes_nothing(runs: Runs) -> None:
    ran = runs["denied"]
    assert ran.files["task.md"] == "Write the number.\n"
    assert ran.heard.denied
    assert ran.heard.text == "Done."


def test_a_command_that_prints_a_lot_is_no_obstacle(runs: Runs) -> None:
    assert (runs["flood"].heard.text, runs["flood"].heard.problem) == ("Done.", None)


def test_an_image_and_an_effort_reach_the_model(runs: Runs) -> None:
    assert "image/png" in runs["image"].asked[0]
    assert '"effort":"low"' in runs["effort"].asked[0].replace(" ", "")


def test_a_whole_evaluation_says_which_sdk_answered(product: Product) -> None:
    product.python = sdk_python()
    product.env["PYTHONPATH"] = os.pathsep.join((product.env["PYTHONPATH"], sysconfig.get_path("purelib")))
    product.world(1, 2, 1)
    product.write(agent={"mode": "auto"})
    said = product.evaluate()
    assert said.code == 0, said.err
    seen = product.transcripts()
    assert len(seen) >= 2
    assert all(" by sdk 0." in each.program for each in seen), {each.program for each in seen}
    assert all(each.program.startswith(product.backend) for each in seen)
    assert {each.skill_opened for each in seen} == {"yes"}
    assert product.evaluate().code == 0
