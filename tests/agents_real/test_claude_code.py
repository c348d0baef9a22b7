"""The real Claude Code, unconfined, against the scripted server: each run ends in time, with the right outcome."""

from __future__ import annotations

import asyncio
import json
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from skillopt.agents.claude_code.adapter import VERSION, ClaudeCode
from skillopt.agents.program import Cause, Ended, Heard, Job, Model
from skillopt.agents.settings import AgentSettings
from skillopt.domain.usage import Price
from skillopt.kernel.process import Finished, run_process
from skillopt.testing.server import ThreadedServer, serve_in_thread
from skillopt.testing.tooluse.script import ScriptTurn, script
from tests.agents_real.programs import installed

SKILL = "skillopt-tides"
MARK = "the harbour gate opens at seven"
CANARY = "canary-of-the-person"
SECONDS = 3.0  # one request of the program
DEADLINE = 30.0
EASY = script(ScriptTurn(text="Done."))
SCHEMA = json.dumps({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
PRICE = Price(input=3.0, output=15.0)


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

    def __init__(self, server: ThreadedServer, folder: Path) -> None:
        self.program = installed("claude")
        self.server = server
        self.work, self.home = folder / "work", folder / "home"
        place = self.work / ".claude" / "skills" / SKILL / "SKILL.md"
        place.parent.mkdir(parents=True)
        place.write_text(f"---\nname: {SKILL}\ndescription: When the tide comes.\n---\n\nRemember: {MARK}.\n")
        (self.work / "task.md").write_text("Write the number.\n")
        self.home.mkdir()

    def run(
        self,
        scenario: str,
        *,
        agent: AgentSettings | None = AgentSettings(),
        base_url: str | None = None,
        **job: object,
    ) -> Ran:
        """Run a job whose model plays this scenario."""
        address = self.server.url(scenario) if base_url is None else base_url
        whole = msgspec.structs.replace(
            Job(
                prompt="Read task.md and do it.",
                work=str(self.work),
                home=str(self.home),
                model=Model(name="claude-sonnet-4-5", base_url=address, key="a-key", price=PRICE),
                agent=agent,
                skill=SKILL,
                seconds=SECONDS,
            ),
            **job,
        )
        return self._started(whole, scenario)

    def _started(self, job: Job, scenario: str) -> Ran:
        made = ClaudeCode().command(job)
        for name, text in made.home_files.items():
            (self.home / name).write_text(text)
        env = {"HOME": str(self.home), "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "dumb"}
        finished = asyncio.run(
            run_process(
                (str(self.program), *made.args),
                cwd=self.work,
                env={**env, **made.env},
                stdin=made.stdin,
                deadline=DEADLINE,
                output_limit=8 << 20,
            )
        )
        assert not finished.timed_out
        assert not left_behind(self.home)
        ended = Ended(job=job, finished=finished, home=self.home)
        asked = tuple(entry.body for entry in self.server.log(scenario))
        return Ran(heard=ClaudeCode().heard(ended), ended=ended, asked=asked)


def left_behind(home: Path) -> list[str]:
    """Return the processes that still have this home."""
    mine = f"HOME={home}".encode()
    found: list[str] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mine in (folder / "environ").read_bytes().split(b"\0"):
                found.append((folder / "cmdline").read_bytes().decode(errors="replace"))
        except OSError:  # it ended meanwhile
            continue
    return found


@pytest.fixture
def stand(tmp_path: Path) -> Iterator[Stand]:
    with serve_in_thread() as server:
        yield Stand(server, tmp_path)


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


def test_it_is_the_version_that_the_adapter_was_tried_with(tmp_path: Path) -> None:
    told = asyncio.run(
        run_process(
            (str(installed("claude")), "--version"),
            cwd=tmp_path,
            env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
            stdin=None,
            deadline=DEADLINE,
            output_limit=1000,
        )
    )
    assert told.stdout.decode().split()[0] == VERSION


def test_a_plain_answer(stand: Stand) -> None:
    ran = stand.run(EASY)
    assert (ran.heard.text, cause(ran), ran.finished.exit_code) == ("Done.", None, 0)
    assert (ran.heard.requests, len(ran.asked), ran.heard.model) == (1, 1, "claude-sonnet-4-5")
    assert ran.heard.usage is not None
    assert ran.heard.usage.nano_usd == PRICE.cost(
        input_tokens=ran.heard.usage.input_tokens, cached_tokens=0, output_tokens=ran.heard.usage.output_tokens
    )
    assert (ran.heard.skill_opened, ran.heard.task_read) == ("no", "no")


def test_a_tool_loop_reads_the_task_and_edits_a_file(stand: Stand) -> None:
    number = str(stand.work / "number.txt")
    ran = stand.run(
        script(
            ScriptTurn(text="I read the task.", call=("Read", {"file_path": str(stand.work / "task.md")})),
            ScriptTurn(call=("Write", {"file_path": number, "content": "n=1\n"})),
            ScriptTurn(call=("Edit", {"file_path": number, "old_string": "1", "new_string": "2"})),
            ScriptTurn(sh="printf 'm=%s\\n' $(( 6 * 7 )) >> number.txt; exit 3"),
            ScriptTurn(text="Done."),
        )
    )
    assert (stand.work / "number.txt").read_text() == "n=2\nm=42\n"
    assert ran.heard.calls == (("Bash", 1), ("Edit", 1), ("Read", 1), ("Write", 1))
    assert [each.status for each in ran.heard.actions if each.kind == "ran"] == ["ok", "ok", "ok", "exit 3"]
    assert (ran.heard.task_read, ran.heard.skill_opened, ran.heard.text) == ("yes", "no", "Done.")
    assert ran.heard.requests == len(ran.asked) == 5
    assert not ran.heard.denied


def test_the_skill_of_the_folder_is_found_and_used_and_nothing_of_the_person_is(stand: Stand) -> None:
    config = stand.home / ".claude"
    for place in (config / "skills" / "other", config / "commands"):
        place.mkdir(parents=True)
    (config / "skills" / "other" / "SKILL.md").write_text(f"---\nname: other\ndescription: {CANARY}\n---\n{CANARY}\n")
    for place in (config, stand.home, stand.work):
        (place / "CLAUDE.md").write_text(f"{CANARY}\n")
    ran = stand.run(script(ScriptTurn(skill=SKILL), ScriptTurn(text="Done.")))
    assert (ran.heard.skill_opened, ran.heard.calls) == ("yes", (("Skill", 1),))
    assert "When the tide comes." in ran.asked[0]
    assert MARK not in ran.asked[0]
    assert MARK in ran.asked[1]
    assert not any(word in asked for word in (CANARY, "dataviz", "plugin-authoring") for asked in ran.asked)
    assert tools(ran) == {"Read", "Glob", "Grep", "Edit", "Write", "Bash", "Skill"}


def test_a_skill_that_it_is_told_of_is_read_as_a_file(stand: Stand) -> None:
    ran = stand.run(
        script(ScriptTurn(sh=f"cat .claude/skills/{SKILL}/SKILL.md"), ScriptTurn(text="Done.")),
        agent=AgentSettings(skill="told"),
    )
    assert ran.heard.skill_opened == "yes"
    assert "Skill" not in tools(ran)
    assert "When the tide comes." not in ran.asked[0]
    assert MARK in ran.asked[1]


def test_an_answer_by_a_schema(stand: Stand) -> None:
    turns = (ScriptTurn(struct={"n": "no"}), ScriptTurn(struct={"n": 7}), ScriptTurn(text="Done."))
    ran = stand.run(script(*turns), schema=SCHEMA)
    assert (json.loads(ran.heard.text), cause(ran)) == ({"n": 7}, None)
    assert not ran.heard.calls


def test_an_image_is_shown(stand: Stand) -> None:
    image = stand.work / "attachments" / "01_a b.png"
    image.parent.mkdir()
    image.write_bytes(picture())
    ran = stand.run(EASY, images=(str(image),))
    assert '"media_type":"image/png"' in ran.asked[0].replace(" ", "")


def test_effort_and_thinking_reach_the_model(stand: Stand) -> None:
    ran = stand.run(EASY, agent=AgentSettings(thinking_tokens=2048))
    thinking = body(ran)["thinking"]
    assert isinstance(thinking, dict)
    assert thinking["budget_tokens"] == 2048
    once = stand.run(EASY, agent=None, effort="low", model=Model(name="m", base_url=stand.server.url(EASY), key="k"))
    assert json.loads(once.asked[-1])["output_config"] == {"effort": "low"}


def test_an_agent_that_may_only_read_changes_nothing(stand: Stand) -> None:
    target = str(stand.work / "task.md")
    ran = stand.run(
        script(
            ScriptTurn(call=("Bash", {"command": "rm task.md", "description": "x"})),
            ScriptTurn(call=("Write", {"file_path": target, "content": "gone"})),
            ScriptTurn(call=("Glob", {"pattern": "*.md"})),
            ScriptTurn(text="Done."),
        ),
        agent=AgentSettings(files="read"),
    )
    assert (stand.work / "task.md").read_text() == "Write the number.\n"
    assert (ran.heard.denied, ran.heard.text) == (("Bash", "Write"), "Done.")
    assert tools(ran) == {"Read", "Glob", "Grep", "Skill"}


def test_a_command_that_prints_its_environment_does_not_print_the_key(stand: Stand) -> None:
    stand.run(script(ScriptTurn(sh="env > seen.txt"), ScriptTurn(text="Done.")))
    seen = (stand.work / "seen.txt").read_text()
    assert "CLAUDECODE=1" in seen
    assert "a-key" not in seen


def test_what_no_rule_allows_is_denied_and_told(stand: Stand) -> None:
    ran = stand.run(
        script(ScriptTurn(sh="touch made"), ScriptTurn(sh="git --version"), ScriptTurn(text="Done.")),
        agent=AgentSettings(tools=("Read", "Bash(git *)")),
    )
    assert not (stand.work / "made").exists()
    assert (ran.heard.denied, ran.heard.text, ran.finished.exit_code) == (("Bash",), "Done.", 0)
    assert [each.status for each in ran.heard.actions if each.kind == "ran"] == ["denied", "ok"]


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
        ("filtered", "refused", None),
        ("length", "refused", None),
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
    heard = ClaudeCode().heard(msgspec.structs.replace(ran.ended, finished=killed))
    assert (heard.calls, heard.requests, heard.usage) == (ran.heard.calls, 2, ran.heard.usage)
    assert heard.problem is not None


def test_asked_once_it_has_the_system_text_and_no_tools(stand: Stand) -> None:
    ran = stand.run(EASY, agent=None, system="Be brief.", prompt="/compact is what? @task.md")
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
    ran = stand.run(script(*turns), agent=None, images=(str(image),), schema=SCHEMA)
    assert json.loads(ran.heard.text) == {"n": 7}
    assert "image/png" in ran.asked[0]
