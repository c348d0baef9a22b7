"""An agent's program in its sandbox: it reaches the one server of its model and nothing else.

Needs bubblewrap; a machine that does not have it skips this, loudly.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from skillopt.agents.finding import Program
from skillopt.agents.grounds import Confined, Stay, way_to
from skillopt.agents.runner import CliAgent
from skillopt.agents.settings import AgentSettings
from skillopt.domain.agency.errands import Attachment, Errand
from skillopt.domain.errors import AgentTimeoutError
from skillopt.domain.skill import Skill
from skillopt.kernel.process import Finished
from skillopt.kernel.sandbox import Sandbox, Tier, interpreter, probe
from tests.unit.agents.programs import PROLOGUE, ScriptedAdapter, ScriptedSettings, team

REACHES = """
import socket
def reached(host, port):
    try:
        near = socket.create_connection((host, port), 2)
        near.sendall(b"x")
        near.shutdown(socket.SHUT_WR)
        return near.recv(64).decode() or "nothing said"
    except OSError as error:
        return type(error).__name__
"""


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    probed = asyncio.run(probe(Tier.BUBBLEWRAP))
    if not probed.holds:
        pytest.skip(f"bubblewrap does not hold here: {probed.says}")
    return Sandbox(Tier.BUBBLEWRAP)


@contextmanager
def speaker(word: bytes) -> Iterator[int]:
    """Serve this word on a port of this machine to whoever asks."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    near, _ = listening.accept()
                except OSError:
                    return
                with near:
                    while near.recv(64):
                        pass
                    near.sendall(word)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield int(listening.getsockname()[1])
        listening.shutdown(socket.SHUT_RDWR)


def program(folder: Path, code: str) -> Program:
    """Return a Python program that can run inside: its interpreter is readable there."""
    place = folder / "bin"
    place.mkdir(exist_ok=True)
    path = place / "program"
    path.write_text(f"#!{interpreter()} -IS\n{PROLOGUE.partition(chr(10))[2]}{code}")
    path.chmod(0o755)
    return Program(
        path=path, version="1", readable=(place, interpreter().parent.parent), search="/usr/bin:/bin", wrapper=True
    )


def inside(
    sandbox: Sandbox,
    folder: Path,
    code: str,
    *,
    base_url: str | None = "http://127.0.0.1:9/v1",
    env: Mapping[str, str] | None = None,
    writes: bool = True,
    network: bool = False,
    mounts: tuple[tuple[Path, str], ...] = (),
) -> Finished:
    for name in ("work", "home"):
        (folder / name).mkdir(exist_ok=True)
    confined = Confined(sandbox, way_to(base_url, ("model.example.com",)))
    stay = Stay(work=folder / "work", home=folder / "home", seconds=60.0, writes=writes, network=network, mounts=mounts)
    finished = asyncio.run(confined.run(program(folder, code), (), {} if env is None else env, b"", stay))
    assert finished.exit_code == 0, finished.stderr.decode()
    return finished


def test_it_reaches_its_model_and_no_other_server_of_this_machine(sandbox: Sandbox, tmp_path: Path) -> None:
    with speaker(b"the model") as model, speaker(b"another") as other:
        addresses = [("127.0.0.1", model), ("127.0.0.1", other), ("10.255.255.1", 80), ("::1", other)]
        code = f"{REACHES}print(json.dumps([reached(*each) for each in {addresses!r}]))"
        said = json.loads(inside(sandbox, tmp_path, code, base_url=f"http://127.0.0.1:{model}/v1").stdout)
    assert said[0] == "the model"
    assert not {"the model", "another", "nothing said"} & set(said[1:])


def test_a_socket_of_this_machine_without_a_name_in_its_files_is_out_of_reach(sandbox: Sandbox, tmp_path: Path) -> None:
    name = f"skillopt-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"\0{name}")
        listening.listen()
        code = f"import socket\nnear = socket.socket(socket.AF_UNIX)\nprint(near.connect_ex('\\0{name}') != 0)"
        assert inside(sandbox, tmp_path, code).stdout == b"True\n"


def test_through_the_proxy_only_the_hosts_of_its_provider_are_led_to(sandbox: Sandbox, tmp_path: Path) -> None:
    code = """
import socket
from urllib.parse import urlsplit
proxy = urlsplit(os.environ["HTTPS_PROXY"])
def answered(head):
    near = socket.create_connection((proxy.hostname, proxy.port), 5)
    near.sendall(head + b"\\r\\n\\r\\n")
    return near.recv(12).decode()
print(answered(b"CONNECT 127.0.0.1:%d HTTP/1.1"), answered(b"CONNECT model.example.com:80 HTTP/1.1"))
"""
    with speaker(b"another") as other:
        said = inside(sandbox, tmp_path, code.replace("%d", str(other)), base_url=None).stdout
    assert said == b"HTTP/1.1 403 HTTP/1.1 403\n"


def test_with_the_network_it_has_this_machines(sandbox: Sandbox, tmp_path: Path) -> None:
    with speaker(b"another") as other:
        code = f"{REACHES}print(reached('127.0.0.1', {other}))"
        assert inside(sandbox, tmp_path, code, network=True).stdout == b"another\n"


WRITES = """
def tried(path):
    try:
        pathlib.Path(path).write_text("x")
        return True
    except OSError:
        return False
"""


@pytest.mark.parametrize("writes", [True, False])
def test_it_writes_its_folder_only_where_it_may_and_its_home_and_what_is_temporary_always(
    sandbox: Sandbox, tmp_path: Path, *, writes: bool
) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "given").write_text("given")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page").write_text("read me")
    places = ("given", "new", "data/manual/page", "/home/agent/x", "/tmp/x", "/usr/x", "/x")
    code = f"{WRITES}print(json.dumps([tried(place) for place in {places!r}]))\n"
    code += "print(open('data/manual/page').read())"
    mounts = ((tmp_path / "docs", "data/manual"),)
    tried, page, _ = inside(sandbox, tmp_path, code, writes=writes, mounts=mounts).stdout.decode().split("\n")
    assert json.loads(tried) == [writes, writes, False, True, True, False, False]
    assert page == "read me"
    assert (tmp_path / "work" / "given").read_text() == ("x" if writes else "given")
    assert (tmp_path / "docs" / "page").read_text() == "read me"
    assert (tmp_path / "home" / "x").exists()


def test_it_sees_the_same_places_every_time_and_nothing_of_the_persons(sandbox: Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("mine")
    code = (
        "print(os.getcwd(), pathlib.Path.home(), os.environ['TOLD'], os.getuid(),"
        f" os.path.exists({str(secret)!r}), os.path.exists({str(Path.home() / '.bashrc')!r}))\n"
        "print(sorted(os.environ), file=sys.stderr)"
    )
    finished = inside(sandbox, tmp_path, code, env={"TOLD": "yes", "HOME": "/home/agent"})
    assert finished.stdout == b"/job /home/agent yes 65534 False False\n"
    known = {"HOME", "LANG", "LC_CTYPE", "PATH", "PWD", "TMPDIR", "TOLD"}
    assert set(eval_names(finished.stderr)) <= known


def eval_names(words: bytes) -> list[str]:
    names = json.loads(words.decode().replace("'", '"'))
    assert isinstance(names, list)
    return [str(name) for name in names]


ERRAND = Errand(instruction="Add 40 and 2.", skill=Skill.from_text("---\nname: sums\n---\nCarry the one.\n"))


def agent(sandbox: Sandbox, folder: Path, code: str, settings: AgentSettings, port: int = 9) -> CliAgent:
    model = ScriptedSettings(base_url=f"http://127.0.0.1:{port}/v1")
    confined = Confined(sandbox, way_to(model.base_url, ()))
    found = team(folder, code, adapter=ScriptedAdapter(), settings=model, grounds=confined)
    return CliAgent(msgspec.structs.replace(found, program=program(folder, code)), settings, folder)


def sent(who: CliAgent, errand: Errand = ERRAND) -> tuple[str, list[str]]:
    async def scene() -> tuple[str, list[str]]:
        try:
            reply = await who.run(errand)
            assert reply.transcript is not None
            return reply.text, [file.path for file in reply.transcript.files]
        finally:
            await who.close()

    return asyncio.run(scene())


def test_an_agent_does_its_errand_inside_and_what_it_leaves_is_known_outside(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page").write_text("the manual")
    (tmp_path / "in.csv").write_bytes(b"1,2")
    file = Attachment(name="in.csv", digest=hashlib.sha256(b"1,2").hexdigest(), source=str(tmp_path / "in.csv"))
    errand = Errand(instruction=ERRAND.instruction, skill=ERRAND.skill, files=(file,))
    with speaker(b"the model") as model:
        code = (
            f"{REACHES}skill = pathlib.Path(os.environ['WORK'], '.agents/skills', os.environ['SKILL'], 'SKILL.md')\n"
            "open('out.txt', 'w').write('42')\n"
            f"print(open('task.md').read().strip(), open('in.csv').read(), 'Carry' in skill.read_text(),"
            f" open('data/manual/page').read(), reached('127.0.0.1', {model}))"
        )
        who = agent(sandbox, tmp_path, code, AgentSettings(data_dirs={"manual": "docs"}), model)
        assert sent(who, errand) == ("Add 40 and 2. 1,2 True the manual the model\n", ["out.txt"])


def test_an_agent_that_may_only_read_changes_nothing(sandbox: Sandbox, tmp_path: Path) -> None:
    code = f"{WRITES}print(tried('out.txt'), tried('task.md'))"
    assert sent(agent(sandbox, tmp_path, code, AgentSettings(files="read"))) == ("False False\n", [])


def test_an_agent_at_its_deadline_is_ended_with_all_that_it_started(sandbox: Sandbox, tmp_path: Path) -> None:
    with speaker(b"") as model:
        code = "os.fork()\nos.setsid() if os.getpgrp() != os.getpid() else None\nwhile True: time.sleep(60)\n"
        settings = AgentSettings(timeout=2.0)
        with pytest.raises(AgentTimeoutError):
            sent(agent(sandbox, tmp_path, code, settings, model))
    marker = str(tmp_path / "bin" / "program").encode()
    running = [path for path in Path("/proc").glob("[0-9]*/cmdline") if marker in read_if_there(path)]
    assert running == []


def read_if_there(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
