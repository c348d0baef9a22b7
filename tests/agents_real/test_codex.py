"""The real Codex before the scripted model: each run ends in time, as it should, and leaves no process behind.

Unconfined runs are Codex in a sandbox of its own; confined ones are Codex in ours, where it can have none.
"""

from __future__ import annotations

import asyncio
import base64
import os
import select
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict, Unpack

import msgspec
import pytest

from skillopt.agents.codex.adapter import Codex, CodexSettings
from skillopt.agents.finding import Program, find_program
from skillopt.agents.grounds import Confined, Grounds, Stay, Unconfined, way_to
from skillopt.agents.program import Cause, Command, Heard, Job
from skillopt.agents.settings import AgentSettings
from skillopt.agents.team import Team
from skillopt.kernel.sandbox import Sandbox, Tier, probe
from skillopt.testing.faults import FaultKind
from skillopt.testing.server import ThreadedServer, serve_in_thread
from skillopt.testing.tooluse.script import ScriptTurn, script
from tests.agents_real.programs import installed

CODEX = Codex()
GRACE = 3.0
AT_ONCE = 4
SCRIPTING = "gpt-6.1-sol"  # Codex knows it, and has it write scripts instead of calling tools
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
KEY = "sk-scripted-0000000000000000"
SKILL = "---\nname: tide-tables\ndescription: Computes tide tables. Use it for tides.\n---\n# Tides\n\nTwice a day.\n"
OPEN_SKILL = "cat .agents/skills/tide-tables/SKILL.md"
SCHEMA = (
    '{"type":"object","properties":{"answer":{"type":"number"}},"required":["answer"],"additionalProperties":false}'
)
ALONE = AgentSettings(sandbox="none")
READER = AgentSettings(sandbox="none", files="read")
BOXED = AgentSettings(sandbox="bubblewrap")


@pytest.fixture(scope="module")
def server() -> Iterator[ThreadedServer]:
    with serve_in_thread() as serving:
        yield serving


@pytest.fixture(scope="module")
def program() -> Program:
    path = installed("codex")
    path = path.parent.resolve() / path.name  # below a link to its folder it cannot be confined
    return asyncio.run(find_program(CODEX, path=str(path), root=Path("/"), environ={"PATH": os.environ["PATH"]}))


class More(TypedDict, total=False):
    """What else a job may have."""

    base_url: str
    key: str | None
    schema: str
    deadline: float
    model: str
    images: tuple[str, ...]


class Play:
    """Has Codex do one job before the scripted model."""

    adapter = CODEX

    def __init__(self, program: Program, server: ThreadedServer, folder: Path, refusal: str) -> None:
        self.program = program
        self.refusal = refusal  # why bubblewrap cannot be used, if it cannot
        self.server = server
        self.work = folder / "work"
        self.home = folder / "home"
        self.timed_out = False
        (self.work / ".agents" / "skills" / "tide-tables").mkdir(parents=True)
        (self.work / ".agents" / "skills" / "tide-tables" / "SKILL.md").write_text(SKILL)
        (self.work / "task.md").write_text("When is high water?")
        (self.work / "AGENTS.md").write_text("INSTRUCTION-FILE")
        self.home.mkdir()

    def __call__(self, scenario: str, agent: AgentSettings | None = ALONE, **more: Unpack[More]) -> Heard:
        return asyncio.run(self.heard(scenario, agent, **more))

    async def heard(self, scenario: str, agent: AgentSettings | None = ALONE, **more: Unpack[More]) -> Heard:
        url = more.get("base_url", "") or self.server.url(scenario)
        key = more.get("key", KEY)
        deadline = more.get("deadline", 20.0)
        grounds = self._grounds(url, agent)
        stay = Stay(
            work=self.work,
            home=self.home,
            seconds=deadline,
            writes=agent is None or agent.files == "edit",
            network=agent is not None and agent.network,
        )
        team = Team(
            adapter=self.adapter,
            program=self.program,
            grounds=grounds,
            settings=CodexSettings(model=more.get("model", "scripted-target"), base_url=url),
            key=None if key is None else lambda: key,
        )
        work, home = grounds.places(stay)
        job = Job(
            prompt="Your task is written in task.md.",
            system="SYSTEM-TEXT",
            work=work,
            home=home,
            confined=grounds.confines,
            model=team.model,
            agent=agent,
            skill="" if agent is None else "tide-tables",
            schema=more.get("schema"),
            images=tuple(f"{work}/{image}" for image in more.get("images", ())),
            seconds=deadline * 0.4,
        )
        ended = await team.start(self.adapter.command(job), stay, job)
        left = await asyncio.to_thread(self._left)
        assert not left, "a process was left behind"
        self.timed_out = ended.finished.timed_out
        return CODEX.heard(ended)

    def _grounds(self, url: str, agent: AgentSettings | None) -> Grounds:
        if agent is None or agent.sandbox == "none":
            return Unconfined()
        if self.refusal:
            pytest.skip(f"bubblewrap does not hold here: {self.refusal}")
        return Confined(Sandbox(Tier.BUBBLEWRAP), way_to(url, ()))

    def _left(self) -> list[str]:
        """Return the processes with the home of this run in their environment that do not end by themselves.

        A command that moved to a session of its own dies with Codex, but a moment later.
        """
        mine = str(self.home).encode()
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if mine in (process / "environ").read_bytes() and not has_ended(int(process.name)):
                    found.append(process.name)
            except OSError:
                continue  # it ended meanwhile, or is another person's
        return found


def has_ended(process: int) -> bool:
    """Wait for the end of a process that is about to end."""
    handle = os.pidfd_open(process)
    try:
        return bool(select.select([handle], [], [], GRACE)[0])
    finally:
        os.close(handle)


@pytest.fixture(scope="module")
def refusal() -> str:
    probed = asyncio.run(probe(Tier.BUBBLEWRAP))
    return "" if probed.holds else probed.says


@pytest.fixture
def play(program: Program, server: ThreadedServer, tmp_path: Path, refusal: str) -> Play:
    return Play(program, server, tmp_path, refusal)


def answered(heard: Heard) -> str:
    assert heard.problem is None
    return heard.text


GROUNDS = pytest.mark.parametrize("agent", [ALONE, BOXED], ids=["unconfined", "confined"])


@GROUNDS
def test_a_text(play: Play, agent: AgentSettings) -> None:
    heard = play(script(ScriptTurn(text="Noon.")), agent)
    assert answered(heard) == "Noon."
    assert (heard.requests, heard.calls, heard.skill_opened, heard.task_read) == (1, (), "no", "no")
    assert heard.usage is not None
    assert heard.usage.input_tokens > 100
    assert heard.model == "scripted-target"


@GROUNDS
def test_a_tool_loop_that_edits_files(play: Play, agent: AgentSettings) -> None:
    patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: patched.txt\n+hello\n*** End Patch\nEOF"
    turns = script(
        ScriptTurn(text="I will read it.", sh="cat task.md"),
        ScriptTurn(sh="echo $((6 * 7)) > answer.txt"),
        ScriptTurn(sh=patch),
        ScriptTurn(sh="exit 3"),
        ScriptTurn(text="Done."),
    )
    heard = play(turns, agent)
    assert answered(heard) == "Done."
    assert (play.work / "answer.txt").read_text() == "42\n"
    assert (play.work / "patched.txt").read_text() == "hello\n"
    assert (heard.calls, heard.requests, heard.denied) == ((("exec_command", 4),), 5, ())
    assert (heard.task_read, heard.skill_opened) == ("yes", "no")
    assert [action.status for action in heard.actions if action.kind == "ran"] == ["exit 0"] * 3 + ["exit 3"]


@GROUNDS
def test_a_skill_is_found_natively_and_used(play: Play, agent: AgentSettings) -> None:
    scenario = script(ScriptTurn(skill="tide-tables"), ScriptTurn(text="Used."))
    heard = play(scenario, agent)
    assert answered(heard) == "Used."
    assert heard.skill_opened == "yes"
    asked = play.server.log(scenario)[0].body
    assert "Computes tide tables" in asked
    assert "skill-creator" not in asked, "the program's own skills compete with ours"


def test_a_skill_that_was_told(play: Play) -> None:
    heard = play(script(ScriptTurn(sh=OPEN_SKILL), ScriptTurn(text="Read.")))
    assert answered(heard) == "Read."
    assert heard.skill_opened == "yes"


def test_a_skill_that_is_not_where_it_was_looked_for(play: Play) -> None:
    heard = play(script(ScriptTurn(sh="cat .agents/skills/tide/SKILL.md"), ScriptTurn(text="Not there.")))
    assert heard.skill_opened == "failed"


@pytest.mark.parametrize("agent", [None, ALONE], ids=["asked", "agent"])
def test_a_structured_answer(play: Play, agent: AgentSettings | None) -> None:
    heard = play(script(ScriptTurn(struct={"answer": 42})), agent, schema=SCHEMA)
    assert msgspec.json.decode(answered(heard)) == {"answer": 42}


FAULTS: list[tuple[str, Cause]] = [
    ("auth", "auth"),
    ("forbidden", "auth"),
    ("unknown_model", "refused"),
    ("rate_limit", "rate_limited"),
    ("quota", "quota"),
    ("quota_429", "quota"),
    ("context", "context"),
    ("internal", "unavailable"),
    ("unavailable", "unavailable"),
    ("overloaded", "unavailable"),
    ("error_body", "unavailable"),
    ("garbage", "unavailable"),
    ("cut", "unavailable"),
    ("crash", "unavailable"),
    ("empty", "empty"),
    ("length", "truncated"),
    ("filtered", "filtered"),
    ("hang", "unavailable"),
    ("hang_stream", "unavailable"),
]


def test_what_fails_is_a_problem_after_one_request(
    program: Program, server: ThreadedServer, tmp_path: Path, refusal: str
) -> None:
    async def outcome(kind: str, turn: asyncio.Semaphore) -> tuple[str, str, bool, int]:
        play = Play(program, server, tmp_path / kind, refusal)
        async with turn:
            heard = await play.heard(f"echo,kinds={kind}", None, deadline=3.0 if kind == "hang" else 10.0)
        assert heard.problem is not None
        return kind, heard.problem.cause, play.timed_out, len(server.log(f"echo,kinds={kind}"))

    async def outcomes() -> list[tuple[str, str, bool, int]]:
        turn = asyncio.Semaphore(AT_ONCE)
        return await asyncio.gather(*(outcome(kind, turn) for kind, _ in FAULTS))

    assert asyncio.run(outcomes()) == [(kind, cause, kind == "hang", 1) for kind, cause in FAULTS]


@pytest.mark.parametrize(("kind", "cause"), [("auth", "auth"), ("rate_limit", "rate_limited"), ("cut", "unavailable")])
def test_what_fails_for_an_agent_is_tried_once_more(play: Play, kind: str, cause: Cause) -> None:
    scenario = f"echo,kinds={kind},latency=0"
    heard = play(scenario, deadline=10.0)
    assert heard.problem is not None
    assert heard.problem.cause == cause
    assert len(play.server.log(scenario)) == 2


def test_one_refusal_in_the_middle_of_its_work_does_not_end_it(play: Play) -> None:
    turns = script(ScriptTurn(sh="echo 42 > answer.txt"), ScriptTurn(text="Done."))
    heard = play(f"{turns},at=2:rate_limit")
    assert answered(heard) == "Done."
    assert [action.kind for action in heard.actions] == ["ran", "said", "error"]


def test_a_stream_that_stops_in_the_middle_of_its_work_tells_what_was_done(play: Play) -> None:
    turns = script(ScriptTurn(sh="echo 42 > answer.txt"), ScriptTurn(fault=FaultKind.HANG_STREAM))
    heard = play(turns, deadline=6.0)
    assert heard.problem is not None
    assert heard.problem.cause == "unavailable"
    assert heard.calls == (("exec_command", 1),)


@GROUNDS
def test_a_server_that_is_not_there(play: Play, agent: AgentSettings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as there_once:
        port = there_once.getsockname()[1]
    heard = play("", agent, base_url=f"http://127.0.0.1:{port}/v1", deadline=3.0)
    assert heard.problem is not None
    assert heard.problem.cause == "unavailable"


def test_a_command_that_outlives_its_time_is_ended_with_it(play: Play) -> None:
    heard = play(script(ScriptTurn(sh="sleep 600"), ScriptTurn(text="Slept.")), deadline=3.0)
    assert play.timed_out
    assert heard.calls == (("exec_command", 1),)


def test_a_denied_command_is_listed_although_the_output_does_not_tell(play: Play) -> None:
    heard = play(script(ScriptTurn(sh="echo 42 > answer.txt"), ScriptTurn(text="I could not.")), READER)
    assert answered(heard) == "I could not."
    assert (heard.denied, heard.calls) == (("exec_command",), (("exec_command", 1),))
    assert not (play.work / "answer.txt").exists()


def test_who_may_only_read_may_not_write_in_our_sandbox_either(play: Play) -> None:
    agent = msgspec.structs.replace(BOXED, files="read")
    heard = play(script(ScriptTurn(sh="echo 42 > answer.txt"), ScriptTurn(text="I could not.")), agent)
    assert answered(heard) == "I could not."
    assert heard.denied == ("exec_command",)
    assert not (play.work / "answer.txt").exists()


@GROUNDS
@pytest.mark.parametrize("network", [True, False])
def test_commands_reach_the_network_only_where_that_is_allowed(play: Play, agent: AgentSettings, network: bool) -> None:
    agent = msgspec.structs.replace(agent, network=network)
    reach = f"(exec 3<>/dev/tcp/127.0.0.1/{play.server.port}) 2>/dev/null && echo open > net.txt || echo shut > net.txt"
    assert answered(play(script(ScriptTurn(sh=reach), ScriptTurn(text="Tried.")), agent)) == "Tried."
    assert (play.work / "net.txt").read_text() == ("open\n" if network else "shut\n")


@GROUNDS
def test_commands_do_not_have_the_key_in_their_environment(play: Play, agent: AgentSettings) -> None:
    answered(play(script(ScriptTurn(sh="env > env.txt"), ScriptTurn(text="Looked.")), agent))
    seen = (play.work / "env.txt").read_text()
    assert "HOME=" in seen
    assert KEY not in seen


@pytest.mark.parametrize("mode", ["read-only", "workspace-write", "danger-full-access"])
def test_its_own_modes_work_outside_our_sandbox(play: Play, mode: str) -> None:
    agent = AgentSettings(sandbox="none", permission=mode)
    outside = play.work.parent / "outside.txt"
    turns = script(
        ScriptTurn(sh="echo 42 > answer.txt"), ScriptTurn(sh=f"echo 42 > {outside}"), ScriptTurn(text="Tried.")
    )
    answered(play(turns, agent))
    assert (play.work / "answer.txt").exists() == (mode != "read-only")
    assert outside.exists() == (mode == "danger-full-access")


def test_full_access_works_inside_our_sandbox(play: Play) -> None:
    agent = AgentSettings(permission="danger-full-access")
    answered(play(script(ScriptTurn(sh="echo 42 > answer.txt"), ScriptTurn(text="Done.")), agent))
    assert (play.work / "answer.txt").read_text() == "42\n"


@pytest.mark.parametrize("model", ["scripted-target", SCRIPTING])
def test_who_is_only_asked_has_nothing_but_system_text_and_prompt(play: Play, model: str) -> None:
    scenario = f"echo,seed={len(model)}"
    heard = play(scenario, None, model=model)
    assert answered(heard).strip() == "Your task is written in task.md."
    assert heard.usage is not None
    (asked,) = play.server.log(scenario)
    body = msgspec.json.decode(asked.body)
    assert (body["model"], body["tools"]) == (model, [])
    assert [part["text"].strip() for item in body["input"] for part in item["content"]] == [
        "SYSTEM-TEXT",
        "Your task is written in task.md.",
    ]


@GROUNDS
def test_a_model_that_writes_scripts_has_its_commands_told_apart(play: Play, agent: AgentSettings) -> None:
    turns = script(ScriptTurn(skill="tide-tables"), ScriptTurn(sh="echo 42 > answer.txt"), ScriptTurn(text="Done."))
    heard = play(turns, agent, model=SCRIPTING)
    assert answered(heard) == "Done."
    assert heard.calls == (("exec", 2), ("exec_command", 2))
    assert (heard.skill_opened, heard.task_read, heard.denied) == ("yes", "no", ())
    assert (play.work / "answer.txt").read_text() == "42\n"


def test_what_a_script_was_refused_is_listed(play: Play) -> None:
    turns = script(ScriptTurn(sh="echo 42 > answer.txt"), ScriptTurn(text="I could not."))
    heard = play(turns, READER, model=SCRIPTING)
    assert heard.denied in {("exec",), ("exec_command",)}, "what was run is reported by chance"
    assert not (play.work / "answer.txt").exists()


@GROUNDS
def test_images_are_shown(play: Play, agent: AgentSettings) -> None:
    (play.work / "a.png").write_bytes(base64.b64decode(PIXEL))
    scenario = script(ScriptTurn(text=f"A pixel, {agent.sandbox}."))
    assert answered(play(scenario, agent, images=("a.png",))).startswith("A pixel")
    assert f"data:image/png;base64,{PIXEL}" in play.server.log(scenario)[0].body


class Watched(Codex):
    """Codex, told to go through a proxy to every server that is spoken to by TLS."""

    def __init__(self) -> None:
        self.proxy = ""

    def command(self, job: Job) -> Command:
        command = super().command(job)
        return msgspec.structs.replace(command, env={**command.env, "HTTPS_PROXY": self.proxy})


@pytest.mark.parametrize("model", ["scripted-target", SCRIPTING])
def test_nobody_but_its_model_is_asked(play: Play, model: str) -> None:
    watched = Watched()
    asked: list[bytes] = []

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readline())
        writer.close()

    async def scene() -> Heard:
        async with await asyncio.start_server(refuse, "127.0.0.1", 0) as proxy:
            watched.proxy = f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}"
            play.adapter = watched
            # time enough for what it does beside its work: without our settings it asks three hosts at once
            return await play.heard(script(ScriptTurn(sh="sleep 1"), ScriptTurn(text="Done.")), model=model)

    assert answered(asyncio.run(scene())) == "Done."
    assert asked == []


def test_no_key_is_asked_for_where_none_is_wanted(play: Play) -> None:
    assert answered(play(script(ScriptTurn(text="Open.")), None, key=None)) == "Open."


def test_without_a_login_a_refusal_says_to_log_in(play: Play) -> None:
    heard = play("echo,kinds=auth,seed=2", None, key=None)
    assert heard.problem is not None
    assert heard.problem.cause == "login"
