"""The escape suite: every attack gets out when nothing confines it, and none does in a tier that passed its self-test.

Needs bubblewrap and a kernel with landlock; a tier that this machine does not have is skipped, loudly.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from skillopt.domain.seeds import dice
from skillopt.kernel.process import Finished
from skillopt.kernel.sandbox import Confinement, Sandbox, Tier, interpreter, probe

FAMILIES = tomllib.loads(Path(__file__).with_name("attacks.toml").read_text(encoding="utf-8"))
ATTACKS = [(family, name) for family, attacks in FAMILIES.items() for name in attacks]
PYTHON = str(interpreter())
MEMORY_MB = 192
FILE_MB = 4
PROCESSES = 24
REFUSALS = (
    *("OSError", "PermissionError", "FileNotFoundError", "ProcessLookupError", "BlockingIOError", "MemoryError"),
    *("ConnectionRefusedError", "TimeoutError", "ValueError: not allowed to raise maximum limit"),
)
PRELUDE = """
import ctypes, fcntl, json, mmap, os, resource, signal, socket, struct, subprocess, sys
told = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
def ok(answer):
    if answer < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return answer
def must(yes):
    if not yes:
        raise OSError("nothing came of it")
"""
VICTIM = """
import ctypes, os, sys, signal
word = ctypes.create_string_buffer(b"s")
libc = ctypes.CDLL(None)
key = int(sys.argv[1])
libc.shmget(key, 64, 0o1666), libc.semget(key, 1, 0o1666), libc.msgget(key, 0o1666)
print(ctypes.addressof(word), flush=True)
sys.stdin.read()
libc.shmctl(libc.shmget(key, 64, 0), 0, None)
libc.semctl(libc.semget(key, 1, 0), 0, 0)
libc.msgctl(libc.msgget(key, 0), 0, None)
"""
STAYERS = {
    "a session of its own": "os.setsid()",
    "a group of its own": "os.setpgid(0, 0)",
    "deaf to signals": "signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGHUP, signal.SIG_IGN)",
    "an orphan": "(os._exit(0) if os.fork() else None)",
    "an orphan with a session": "os.setsid(); (os._exit(0) if os.fork() else None)",
}
BRANCH = """
import os, signal, sys
for _ in range(int(sys.argv[2])):
    if os.fork() == 0:
        {way}
        os.closerange(0, 3)
        os.execv("/bin/sleep", [sys.argv[1], "60"])
"""


class Outside:
    """What an attack may try to reach: files, listeners and processes of the test's own."""

    def __init__(self, folder: Path) -> None:
        self.token = f"skillopt-{os.getpid()}-{dice(str(folder)).randrange(10**9)}"
        self.folder = folder / "outside"
        self.folder.mkdir()
        self.preys: list[subprocess.Popen[bytes]] = []
        self._files()
        key = dice("key", self.token).randrange(1, 2**31)
        self.victim = self._process(key)
        assert self.victim.stdout is not None
        self.address = int(self.victim.stdout.readline())
        self.key = key
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        self.unix = [socket.socket(socket.AF_UNIX) for _ in range(2)]
        for listener, name in zip(self.unix, (str(self.folder / "socket"), "\0" + self.token), strict=True):
            listener.bind(name)
            listener.listen()
        threading.Thread(target=self._echo, daemon=True).start()

    def told(self) -> dict[str, object]:
        """Return what an attack is told; what earlier ones destroyed is put up again."""
        self._files()
        outside = str(self.folder)
        return {
            "secret": f"{outside}/secret",
            "outside": outside,
            "prey": f"{outside}/prey",
            "device": f"{outside}/device",
            "mountpoint": f"{outside}/mountpoint",
            "token": self.token,
            "port": self.tcp.getsockname()[1],
            "datagrams": self.udp.getsockname()[1],
            "socket": f"{outside}/socket",
            "victim": self.victim.pid,
            "victim_group": os.getpgid(self.victim.pid),
            "prey_process": self._prey(),
            "address": self.address,
            "key": self.key,
            "processes": 3 * PROCESSES,
            "memory": 2 * MEMORY_MB << 20,
            "file": 2 * FILE_MB << 20,
            "files": 300,
        }

    def close(self) -> None:
        """Take everything down again."""
        self.victim.communicate(timeout=10)
        for each in self.preys:
            each.kill()
            each.wait()
        for listener in (self.tcp, self.udp, *self.unix):
            listener.close()

    def _files(self) -> None:
        for name in ("new", "moved", "link", "pipe", "sh", "device"):
            self.folder.joinpath(name).unlink(missing_ok=True)
        if self.folder.joinpath("folder").exists():
            self.folder.joinpath("folder").rmdir()
        self.folder.joinpath("secret").write_text("secret")
        self.folder.joinpath("prey").write_text("prey")
        self.folder.joinpath("mountpoint").mkdir(exist_ok=True)

    def _process(self, key: int) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [PYTHON, "-I", "-S", "-c", VICTIM, str(key)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def _prey(self) -> int:
        alive = [each for each in self.preys if each.poll() is None]
        if not alive:
            alive = [subprocess.Popen(["/bin/sleep", "600"])]
            self.preys += alive
        return alive[0].pid

    def _echo(self) -> None:
        while self.udp.fileno() >= 0:
            try:
                _, sender = self.udp.recvfrom(1)
                self.udp.sendto(b"y", sender)
            except OSError:
                return


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    around = Outside(tmp_path_factory.mktemp("around"))
    yield around
    around.close()


@pytest.fixture(scope="module", params=list(Tier), ids=lambda tier: tier.value)
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    probed = asyncio.run(probe(request.param))
    if not probed.holds:
        pytest.skip(f"NO {request.param.value.upper()} HERE: {probed.says}")
    return Sandbox(request.param)


def bounds(work: Path) -> Confinement:
    return Confinement(
        work=work,
        readable=(interpreter().parent.parent,),
        seconds=30.0,
        memory_mb=MEMORY_MB,
        file_mb=FILE_MB,
        processes=PROCESSES,
    )


def program(family: str, name: str, told: dict[str, object]) -> tuple[str, ...]:
    return (PYTHON, "-I", "-S", "-c", PRELUDE + FAMILIES[family][name], json.dumps(told))


def attacked(sandbox: Sandbox, work: Path, argv: tuple[str, ...]) -> Finished:
    return asyncio.run(sandbox.run(argv, bounds(work)))


def left_behind(token: str) -> list[int]:
    found = []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if line.read_bytes().startswith(token.encode()):
                found.append(int(line.parent.name))
        except OSError:
            continue
    return found


def test_there_are_many_attacks_of_many_kinds() -> None:
    assert len(ATTACKS) + len(STAYERS) >= 60
    assert len(FAMILIES) >= 8


@pytest.mark.parametrize(("family", "name"), ATTACKS)
def test_an_attack_gets_out_when_nothing_confines_it(outside: Outside, tmp_path: Path, family: str, name: str) -> None:
    argv = program(family, name, outside.told())
    ran = subprocess.run(argv, cwd=tmp_path, capture_output=True, timeout=30, check=False)
    assert ran.returncode == 0, ran.stderr.decode()


@pytest.mark.parametrize(("family", "name"), ATTACKS)
def test_an_attack_is_stopped(outside: Outside, sandbox: Sandbox, tmp_path: Path, family: str, name: str) -> None:
    ran = attacked(sandbox, tmp_path, program(family, name, outside.told()))
    assert ran.exit_code != 0, f"{name} got out of {sandbox.tier.value}"
    assert not ran.timed_out
    last = ran.stderr.decode().strip().rpartition("\n")[2]
    assert ran.exit_code < 0 or last.startswith(REFUSALS), "stopped by a mistake of ours, not by the sandbox"


@pytest.mark.parametrize("way", STAYERS)
def test_nothing_stays(outside: Outside, sandbox: Sandbox, tmp_path: Path, way: str) -> None:
    token = f"{outside.token}-{way}"
    code = BRANCH.replace("{way}", STAYERS[way])
    subprocess.run([PYTHON, "-I", "-S", "-c", code, token, "1"], cwd=tmp_path, start_new_session=True, check=True)
    survivors = settled(token, wanted=True)
    for number in survivors:
        os.kill(number, signal.SIGKILL)
    assert survivors, "outside, it stays"
    attacked(sandbox, tmp_path, (PYTHON, "-I", "-S", "-c", code, token, "200"))
    assert settled(token, wanted=False) == []
    # a walk takes it well that the groups of other tests come and go
    groups = [name for _, folders, _ in os.walk("/sys/fs/cgroup") for name in folders]
    assert not [name for name in groups if name.startswith(f"skillopt-{os.getpid()}-")]


def settled(token: str, *, wanted: bool) -> list[int]:
    """Look a bounded number of times until there are such processes, or none."""
    found: list[int] = []
    for _ in range(3000):
        found = left_behind(token)
        if bool(found) is wanted:
            break
        os.sched_yield()
    return found


def test_honest_work_gets_done(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "answer.txt").write_text("42")
    code = "import json, tempfile; open('out', 'w').write(open('answer.txt').read()); tempfile.mkdtemp(); print('done')"
    ran = attacked(sandbox, tmp_path, (PYTHON, "-I", "-S", "-c", code))
    assert (ran.exit_code, ran.stdout) == (0, b"done\n"), ran.stderr.decode()
    assert (tmp_path / "out").read_text() == "42"


def test_the_clock_on_the_wall_ends_it(sandbox: Sandbox, tmp_path: Path) -> None:
    short = bounds(tmp_path)
    ran = asyncio.run(
        sandbox.run(("/bin/sleep", "600"), Confinement(work=short.work, readable=short.readable, seconds=0.2))
    )
    assert ran.timed_out
