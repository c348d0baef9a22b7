"""The real Claude Code before the scripted model: each run ends in time, with the right outcome, and leaves no process.

Confined runs are in our sandbox, as another user; the others are as the person is."""

from __future__ import annotations

import asyncio
import json
import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from skillopt.agents.claude_code.adapter import VERSION, ClaudeCode
from skillopt.agents.claude_code.settings import ClaudeCodeSettings
from skillopt.agents.finding import Program, find_program
from skillopt.agents.grounds import Confined, Grounds, Stay, Unconfined, way_to
from skillopt.agents.program import Cause, Ended, Heard, Job, Model
from skillopt.agents.settings import AgentSettings
from skillopt.agents.team import Team
from skillopt.domain.usage import Price
from skillopt.kernel.process import Finished
from skillopt.kernel.sandbox import Sandbox, Tier, probe
from skillopt.testing.server import ThreadedServer, serve_in_thread
from skillopt.testing.tooluse.script import ScriptTurn, script
from tests.agents_real.programs import installed

CLAUDE = ClaudeCode()
SKILL = "skillopt-tides"
MARK = "the harbour gate opens at seven"
CANARY = "canary-of-the-person"
KEY = "sk-scripted-0000000000000000"
SECONDS = 3.0  # one request of the program
DEADLINE = 30.0
EASY = script(ScriptTurn(text="Done."))
SCHEMA = json.dumps({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
PRICE = Price(input=3.0, output=15.0)
ALONE, BOXED = AgentSettings(sandbox="none"), AgentSettings(sandbox="bubblewrap")
BOTH = pytest.mark.parametrize("agent", [ALONE, BOXED], ids=["unconfined", "confined"])


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """What a run came to, and the requests that its model had."""

    heard: Heard
    ended: Ended
    asked: tuple[str, ...]

    @property
    def finished(self) -> Finished:
        """How the program ended."""
        return self.ended.finished


class Stand:
    """A work folder with a skill, a home, and the server; runs the real program in them."""

    def __init__(self, program: Program, server: ThreadedServer, folder: Path, refusal: str) -> None:
        self.program = program
        self.server = server
        self.refusal = refusal  # why bubblewrap cannot be used, if it cannot
        self.work, self.home = folder / "work", folder / "home"
        place = self.work / ".claude" / "skills" / SKILL / "SKILL.md"
        place.parent.mkdir(parents=True)
        place.write_text(f"---\nname: {SKILL}\ndescription: When the tide comes.\n---\n\nRemember: {MARK}.\n")
        (self.work / "task.md").write_text("Write the number.\n")
        self.home.mkdir()

    def inside(self, agent: AgentSettings | None) -> str:
        """Return the work folder as the program knows it."""
        return self._grounds("http://127.0.0.1:9999", agent).places(self._stay(agent))[0]

    def run(
        self, scenario: str, agent: AgentSettings | None = ALONE, *, base_url: str | None = None, **job: object
    ) -> Ran:
        """Run a job whose model plays this scenario."""
        address = self.server.url(scenario) if base_url is None else base_url
        grounds, stay = self._grounds(address, agent), self._stay(agent)
        settings = ClaudeCodeSettings(model="claude-sonnet-4-5", base_url=address, price=PRICE)
        team = Team(adapter=CLAUDE, program=self.program, grounds=grounds, settings=settings, key=lambda: KEY)
        work, home = grounds.places(stay)
        whole = msgspec.structs.replace(
            Job(
                prompt="Read task.md and do it.",
                work=work,
                home=home,
                model=team.model,
                agent=agent,
                skill=SKILL,
                seconds=SECONDS,
            ),
            **job,
        )
        ended = asyncio.run(team.start(CLAUDE.command(whole), stay, whole))
        assert not ended.finished.timed_out
        assert not self._left_behind()
        asked = tuple(entry.body for entry in self.server.log(scenario))
        return Ran(heard=CLAUDE.heard(ended), ended=ended, asked=asked)

    def _grounds(self, address: str, agent: AgentSettings | None) -> Grounds:
        if agent is None or agent.sandbox == "none":
            return Unconfined()
        if self.refusal:
            pytest.skip(f"bubblewrap does not hold here: {self.refusal}")
        return Confined(Sandbox(Tier.BUBBLEWRAP), way_to(address, ()))

    def _stay(self, agent: AgentSettings | None) -> Stay:
        writes = agent is None or agent.files == "edit"
        return Stay(work=self.work, home=self.home, seconds=DEADLINE, writes=writes)

    def _left_behind(self) -> list[str]:
        """Return the processes that know this home: by their environment, or by the words they were started with."""
        mine = str(self.home).encode()
        found: list[str] = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                words = (process / "cmdline").read_bytes()
                if mine in words or mine in (process / "environ").read_bytes():
                    found.append(words.decode(errors="replace"))
            except OSError:  # it ended meanwhile
                continue
        return found


@pytest.fixture(scope="module")
def program() -> Program:
    path = str(installed("claude"))
    return asyncio.run(find_program(CLAUDE, path=path, root=Path("/"), environ={"PATH": os.environ["PATH"]}))


@pytest.fixture(scope="module")
def refusal() -> str:
    probed = asyncio.run(probe(Tier.BUBBLEWRAP))
    return "" if probed.holds else probed.says


@pytest.fixture
def stand(program: Program, refusal: str, tmp_path: Path) -> Iterator[Stand]:
    with serve_in_thread() as server:
        yield Stand(program, server, tmp_path, refusal)


def cause(ran: Ran) -> Cause | None:
    return None if ran.heard.problem is None else ran.heard.problem.cause


def body(ran: Ran, number: int = 0) -> dict[str, object]:
    found = json.loads(ran.asked[number])
    assert isinstance(found, dict)
    return found


def tools(ran: Ran) -> set[str]:
    offered = body(ran)["tools"]
    assert isinstance(offered, list)
    return {tool["name"] for tool in offered}


def picture() -> bytes:
    """Return a small image in red."""
    rows = b"".join(b"\0" + b"\xff\0\0" * 4 for _ in range(4))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def test_it_is_the_version_that_the_adapter_was_tried_with(program: Program) -> None:
    assert program.version == VERSION


@BOTH
def test_a_plain_answer(stand: Stand, agent: AgentSettings) -> None:
    ran = stand.run(EASY, agent)
    assert (ran.heard.text, cause(ran), ran.finished.exit_code) == ("Done.", None, 0)
    assert (ran.heard.requests, len(ran.asked), ran.heard.model) == (1, 1, "claude-sonnet-4-5")
    assert ran.heard.usage is not None
    assert ran.heard.usage.nano_usd == PRICE.cost(
        input_tokens=ran.heard.usage.input_tokens, cached_tokens=0, output_tokens=ran.heard.usage.output_tokens
    )
    assert (ran.heard.skill_opened, ran.heard.task_read) == ("no", "no")


@BOTH
def test_a_tool_loop_reads_the_task_and_edits_a_file(stand: Stand, agent: AgentSettings) -> None:
    number = f"{stand.inside(agent)}/number.txt"
    ran = stand.run(
        script(
            ScriptTurn(text="I read the task.", call=("Read", {"file_path": f"{stand.inside(agent)}/task.md"})),
            ScriptTurn(call=("Write", {"file_path": number, "content": "n=1\n"})),
            ScriptTurn(call=("Edit", {"file_path": number, "old_string": "1", "new_string": "2"})),
            ScriptTurn(sh="printf 'm=%s\\n' $(( 6 * 7 )) >> number.txt; exit 3"),
            ScriptTurn(text="Done."),
        ),
        agent,
    )
    assert (stand.work / "number.txt").read_text() == "n=2\nm=42\n"
    assert ran.heard.calls == (("Bash", 1), ("Edit", 1), ("Read", 1), ("Write", 1))
    assert [each.status for each in ran.heard.actions if each.kind == "ran"] == ["ok", "ok", "ok", "exit 3"]
    assert (ran.heard.task_read, ran.heard.skill_opened, ran.heard.text) == ("yes", "no", "Done.")
    assert ran.heard.requests == len(ran.asked) == 5
    assert not ran.heard.denied


@BOTH
def test_the_skill_of_the_folder_is_found_and_used_and_nothing_of_the_person_is(
    stand: Stand, agent: AgentSettings
) -> None:
    config = stand.home / ".claude"
    for place in (config / "skills" / "other", config / "commands"):
        place.mkdir(parents=True)
    (config / "skills" / "other" / "SKILL.md").write_text(f"---\nname: other\ndescription: {CANARY}\n---\n{CANARY}\n")
    for place in (config, stand.home, stand.work):
        (place / "CLAUDE.md").write_text(f"{CANARY}\n")
    ran = stand.run(script(ScriptTurn(skill=SKILL), ScriptTurn(text="Done.")), agent)
    assert (ran.heard.skill_opened, ran.heard.calls) == ("yes", (("Skill", 1),))
    assert "When the tide comes." in ran.asked[0]
    assert MARK not in ran.asked[0]
    assert MARK in ran.asked[1]
    assert not any(word in asked for word in (CANARY, "dataviz", "plugin-authoring") for asked in ran.asked)
    assert tools(ran) == {"Read", "Glob", "Grep", "Edit", "Write", "Bash", "Skill"}


def test_a_skill_that_it_is_told_of_is_read_as_a_file(stand: Stand) -> None:
    ran = stand.run(
        script(ScriptTurn(sh=f"cat .claude/skills/{SKILL}/SKILL.md"), ScriptTurn(text="Done.")),
        AgentSettings(skill="told", sandbox="none"),
    )
    assert ran.heard.skill_opened == "yes"
    assert "Skill" not in tools(ran)
    assert "When the tide comes." not in ran.asked[0]
    assert MARK in ran.asked[1]


@BOTH
def test_an_answer_by_a_schema(stand: Stand, agent: AgentSettings) -> None:
    turns = (ScriptTurn(struct={"n": "no"}), ScriptTurn(struct={"n": 7}), ScriptTurn(text="Done."))
    ran = stand.run(script(*turns), agent, schema=SCHEMA)
    assert (json.loads(ran.heard.text), cause(ran)) == ({"n": 7}, None)
    assert not ran.heard.calls


@BOTH
def test_an_image_is_shown(stand: Stand, agent: AgentSettings) -> None:
    image = stand.work / "attachments" / "01_a b.png"
    image.parent.mkdir()
    image.write_bytes(picture())
    ran = stand.run(EASY, agent, images=(f"{stand.inside(agent)}/attachments/01_a b.png",))
    assert '"media_type":"image/png"' in ran.asked[0].replace(" ", "")


def test_effort_and_thinking_reach_the_model(stand: Stand) -> None:
    ran = stand.run(EASY, AgentSettings(thinking_tokens=2048, sandbox="none"))
    thinking = body(ran)["thinking"]
    assert isinstance(thinking, dict)
    assert thinking["budget_tokens"] == 2048
    once = stand.run(EASY, None, effort="low", model=Model(name="m", base_url=stand.server.url(EASY), key="k"))
    assert json.loads(once.asked[-1])["output_config"] == {"effort": "low"}


@BOTH
def test_an_agent_that_may_only_read_changes_nothing(stand: Stand, agent: AgentSettings) -> None:
    target = f"{stand.inside(agent)}/task.md"
    ran = stand.run(
        script(
            ScriptTurn(call=("Bash", {"command": "rm task.md", "description": "x"})),
            ScriptTurn(call=("Write", {"file_path": target, "content": "gone"})),
            ScriptTurn(call=("Glob", {"pattern": "*.md"})),
            ScriptTurn(text="Done."),
        ),
        msgspec.structs.replace(agent, files="read"),
    )
    assert (stand.work / "task.md").read_text() == "Write the number.\n"
    assert (ran.heard.denied, ran.heard.text) == (("Bash", "Write"), "Done.")
    assert tools(ran) == {"Read", "Glob", "Grep", "Skill"}


@BOTH
def test_a_command_that_prints_its_environment_does_not_print_the_key(stand: Stand, agent: AgentSettings) -> None:
    stand.run(script(ScriptTurn(sh="env > seen.txt"), ScriptTurn(text="Done.")), agent)
    seen = (stand.work / "seen.txt").read_text()
    assert "CLAUDECODE=1" in seen
    assert KEY not in seen


def test_what_no_rule_allows_is_denied_and_told(stand: Stand) -> None:
    ran = stand.run(
        script(ScriptTurn(sh="touch made"), ScriptTurn(sh="git --version"), ScriptTurn(text="Done.")),
        AgentSettings(tools=("Read", "Bash(git *)"), sandbox="none"),
    )
    assert not (stand.work / "made").exists()
    assert (ran.heard.denied, ran.heard.text, ran.finished.exit_code) == (("Bash",), "Done.", 0)
    assert [each.status for each in ran.heard.actions if each.kind == "ran"] == ["denied", "ok"]


def test_a_confined_agent_reaches_its_folder_and_its_model_only(stand: Stand) -> None:
    secret = stand.work.parent / "gold.txt"
    secret.write_text(CANARY)
    look = f"id -u; cat {secret} /etc/shadow; ls {stand.work.parent} /root; (echo > /dev/tcp/1.1.1.1/443) 2>&1"
    ran = stand.run(script(ScriptTurn(sh=look), ScriptTurn(text="Done.")), BOXED)
    said = next(each.text for each in ran.heard.actions if each.kind == "error")
    assert "65534" in said
    assert "unreachable" in said
    assert not any(CANARY in asked for asked in ran.asked)


@pytest.mark.parametrize(
    ("kind", "wanted", "status"),
    [
        ("auth", "auth", 401),
        ("forbidden", "auth", 403),
        ("quota", "quota", 402),
        ("quota_429", "quota", 429),
        ("unknown_model", "refused", 404),
        ("context", "context", 400),
        ("rate_limit", "rate_limited", 429),
        ("internal", "unavailable", 500),
        ("overloaded", "unavailable", 529),
        ("error_body", "unavailable", None),
        ("garbage", "unavailable", None),
        ("cut", "unavailable", None),
        ("crash", "unavailable", None),
        ("filtered", "filtered", None),
        ("length", "truncated", None),
        ("hang", "unavailable", None),
        ("hang_stream", "unavailable", None),
    ],
)
def test_a_model_that_fails_is_told_as_who_must_act(stand: Stand, kind: str, wanted: Cause, status: int | None) -> None:
    ran = stand.run(f"{EASY},kinds={kind}")
    assert ran.heard.problem is not None, ran.heard.text
    assert (ran.heard.problem.cause, ran.heard.problem.status) == (wanted, status)
    assert (ran.heard.text, ran.finished.exit_code) == ("", 1)
    assert ran.heard.requests == len(ran.asked)


@pytest.mark.parametrize(("kind", "wanted"), [("auth", "auth"), ("cut", "unavailable")])
def test_a_failure_is_told_from_inside_as_well(stand: Stand, kind: str, wanted: Cause) -> None:
    assert cause(stand.run(f"{EASY},kinds={kind}", BOXED)) == wanted


def test_a_rate_limit_is_not_waited_for_by_the_program(stand: Stand) -> None:
    ran = stand.run(f"{EASY},kinds=rate_limit,repeats=1")
    assert (cause(ran), len(ran.asked)) == ("rate_limited", 1)


def test_a_server_that_is_not_there(stand: Stand) -> None:
    ran = stand.run(EASY, base_url="http://127.0.0.1:9")
    assert (cause(ran), ran.finished.exit_code) == ("unavailable", 1)


def test_no_words_are_no_answer(stand: Stand) -> None:
    ran = stand.run(f"{EASY},kinds=empty")
    assert (cause(ran), ran.heard.text, ran.finished.exit_code) == ("empty", "", 0)


def test_without_a_key_it_says_that_nobody_is_logged_in(stand: Stand) -> None:
    ran = stand.run(EASY, model=Model(name="claude-sonnet-4-5", base_url=None, key=None))
    assert (cause(ran), ran.asked) == ("login", ())


def test_a_run_that_was_killed_is_heard_from_its_transcript(stand: Stand) -> None:
    ran = stand.run(script(ScriptTurn(sh="ls"), ScriptTurn(text="Done.")))
    killed = msgspec.structs.replace(ran.finished, exit_code=-9, stdout=b"", timed_out=True)
    heard = CLAUDE.heard(msgspec.structs.replace(ran.ended, finished=killed))
    assert (heard.calls, heard.requests, heard.usage) == (ran.heard.calls, 2, ran.heard.usage)
    assert heard.problem is not None


def test_asked_once_it_has_the_system_text_and_no_tools(stand: Stand) -> None:
    ran = stand.run(EASY, None, system="Be brief.", prompt="/compact is what? @task.md")
    assert (ran.heard.text, cause(ran)) == ("Done.", None)
    assert body(ran)["tools"] == []
    assert "Be brief." in ran.asked[0]
    assert "/compact is what? @task.md" in ran.asked[0]
    assert not any(words in ran.asked[0] for words in ("When the tide comes.", "Write the number.", CANARY))
    assert len(ran.asked[0]) < 2000


def test_asked_once_with_an_image_and_a_schema(stand: Stand) -> None:
    image = stand.work / "a.png"
    image.write_bytes(picture())
    turns = (ScriptTurn(struct={"n": 7}), ScriptTurn(text="Done."))
    ran = stand.run(script(*turns), None, images=(str(image),), schema=SCHEMA)
    assert json.loads(ran.heard.text) == {"n": 7}
    assert "image/png" in ran.asked[0]
