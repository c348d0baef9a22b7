"""Runs a real agent program through its adapter against the scripted server, unconfined, many at a time."""

from __future__ import annotations

import asyncio
import base64
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from skillopt.agents.homes import Homes
from skillopt.agents.program import Adapter, Ended, Heard, Job, Model
from skillopt.agents.settings import AgentSettings
from skillopt.domain.usage import Price
from skillopt.kernel.process import Finished, run_process
from skillopt.testing.server import ThreadedServer
from skillopt.testing.tooluse.script import ScriptTurn, script

SKILL = "skillopt-tides"
MARK = "the harbour gate opens at seven"
FORBIDDEN_MARK = "an instruction file of the folder"
KEY = "sk-a-key-that-must-not-be-seen"
EASY = script(ScriptTurn(text="Done."))
PRICE = Price(input=3.0, output=15.0)
DEADLINE = 40.0
_AT_ONCE = 4
_PLACES = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_CACHE_HOME": ".cache",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
}


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One run: what the model plays, what the job has of its own, and when it is ended if it does not end itself."""

    scenario: str = EASY
    agent: AgentSettings | None = AgentSettings()
    model: str | None = "scripted-1"
    wire: str | None = None
    base_url: str | None = None
    system: str = ""
    images: bool = False
    effort: str | None = None
    seconds: float = 30.0
    deadline: float = DEADLINE


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """What a run came to, the files of its folder, and the requests that its model had."""

    heard: Heard
    finished: Finished
    files: Mapping[str, str]
    asked: tuple[str, ...]
    alive: tuple[str, ...]


def play(
    adapter: Adapter, program: Path, server: ThreadedServer, cases: Mapping[str, Case], search: tuple[str, ...] = ()
) -> dict[str, Ran]:
    """Run all cases, a few at a time; `search` has folders with programs that this one needs."""

    async def all_of_them() -> dict[str, Ran]:
        homes = Homes(adapter.lasting)
        try:
            stand = Stand(adapter, program, server, homes, search)
            runs = (stand.run(case, number) for number, case in enumerate(cases.values()))
            return dict(zip(cases, await asyncio.gather(*runs), strict=True))
        finally:
            homes.close()

    return asyncio.run(all_of_them())


class Stand:
    """The program, who speaks its language, and what all runs share."""

    def __init__(
        self, adapter: Adapter, program: Path, server: ThreadedServer, homes: Homes, search: tuple[str, ...]
    ) -> None:
        self._adapter = adapter
        self._program = program
        self._server = server
        self._homes = homes
        self._turn = asyncio.Semaphore(_AT_ONCE)
        self._search = search

    async def run(self, case: Case, number: int) -> Ran:
        """Run one case in a folder and a home that nothing else uses meanwhile."""
        async with self._turn:
            with tempfile.TemporaryDirectory(prefix="skillopt-real-") as folder, self._homes.lent() as home:
                work = Path(folder) / "work"
                _lay_out(work)
                (Path(folder) / "tmp").mkdir()
                scenario = f"{case.scenario},seed={number}"  # each case has its own counts
                job = Job(
                    prompt="Read task.md and do it.",
                    work=str(work),
                    home=str(home),
                    model=Model(
                        name=case.model,
                        base_url=self._server.url(scenario) if case.base_url is None else case.base_url,
                        key=KEY,
                        wire=case.wire,
                        price=PRICE,
                    ),
                    agent=case.agent,
                    confined=case.agent is None or case.agent.sandbox != "none",
                    system=case.system,
                    skill=SKILL if case.agent is not None else "",
                    images=(str(work / "dot.png"),) if case.images else (),
                    effort=case.effort,
                    seconds=case.seconds,
                )
                finished = await self._started(job, Path(folder), home, case.deadline)
                heard = self._adapter.heard(Ended(job=job, finished=finished, home=home))
                return Ran(
                    heard=heard,
                    finished=finished,
                    files={
                        path.name: path.read_text(errors="replace") for path in sorted(work.iterdir()) if path.is_file()
                    },
                    asked=tuple(entry.body for entry in self._server.log(scenario)),
                    alive=tuple(_left_behind(home)),
                )

    async def _started(self, job: Job, folder: Path, home: Path, deadline: float) -> Finished:
        made = self._adapter.command(job)
        for name, text in made.home_files.items():
            place = home / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        env = {
            "HOME": str(home),
            "PATH": ":".join((str(self._program.parent), *self._search, "/usr/local/bin", "/usr/bin", "/bin")),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "TMPDIR": str(folder / "tmp"),
            **{variable: str(home / place) for variable, place in _PLACES.items()},
            **made.env,
        }
        return await run_process(
            (str(self._program), *made.args),
            cwd=Path(job.work),
            env=env,
            stdin=made.stdin,
            deadline=deadline,
            output_limit=8 << 20,
        )


def _lay_out(work: Path) -> None:
    for agents in (".agents", ".claude"):
        place = work / agents / "skills" / SKILL / "SKILL.md"
        place.parent.mkdir(parents=True)
        place.write_text(f"---\nname: {SKILL}\ndescription: When the tide comes.\n---\n\nRemember: {MARK}.\n")
    (work / "task.md").write_text("Write the number.\n")
    (work / "AGENTS.md").write_text(f"{FORBIDDEN_MARK}\n")
    (work / "dot.png").write_bytes(DOT)


def _left_behind(home: Path) -> list[str]:
    """Return the processes that still have this home."""
    mine = f"HOME={home}".encode()
    found: list[str] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mine in (folder / "environ").read_bytes().split(b"\0") and folder.name != str(os.getpid()):
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue  # it ended while it was looked at
    return found


DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
