"""Runs a real agent program through its adapter, confined or not, before the scripted model; several at a time."""

from __future__ import annotations

import asyncio
import base64
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec
import pytest

from skillopt.agents.finding import Driver, Program, find_driver, find_program
from skillopt.agents.grounds import Confined, Stay, Unconfined, way_to
from skillopt.agents.homes import Homes
from skillopt.agents.program import Adapter, Ended, Heard, Job
from skillopt.agents.settings import AgentSettings, CliSettings
from skillopt.agents.team import Team
from skillopt.domain.usage import Price
from skillopt.kernel.process import Finished
from skillopt.kernel.sandbox import Sandbox, Tier, probe
from skillopt.testing.server import ThreadedServer, serve_in_thread
from skillopt.testing.tooluse.script import ScriptTurn, script
from tests.agents_real.product import has_ended

SKILL = "skillopt-tides"
MARK = "the harbour gate opens at seven"
FORBIDDEN_MARK = "an instruction file of the folder"
KEY = "sk-a-key-that-must-not-be-seen"
EASY = script(ScriptTurn(text="Done."))
PRICE = Price(input=3.0, output=15.0)
DEADLINE = 90.0  # for a run that ends itself, on a machine with much else to do
_AT_ONCE = 4
_DYING = 3.0  # seconds that what was killed may take to be gone


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One run: what the model plays, what the job has of its own, and when it is ended if it does not end itself."""

    scenario: str = EASY
    agent: AgentSettings | None = AgentSettings()
    model: str | None = "scripted-1"
    wire: Literal["responses", "messages"] | None = None
    base_url: str | None = None
    system: str = ""
    images: bool = False
    effort: str | None = None
    schema: str | None = None
    seconds: float = 30.0
    deadline: float = DEADLINE

    @property
    def confined(self) -> bool:
        """Whether our sandbox stands around it."""
        return self.agent is None or self.agent.sandbox != "none"

    @property
    def writes(self) -> bool:
        """Whether its folder may be changed."""
        return self.agent is None or self.agent.files == "edit"


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """What a run came to, the files of its folder, and the requests that its model had."""

    heard: Heard
    finished: Finished
    files: Mapping[str, str]
    asked: tuple[str, ...]
    alive: tuple[str, ...]


class Runs(dict[str, Ran]):
    """What the cases came to; one that could not be run is skipped, loudly."""

    def __missing__(self, name: str) -> Ran:
        """Skip the test that asks for it."""
        pytest.skip(f"bubblewrap does not hold here, so that {name!r} was not run")


def play(adapter: Adapter, path: Path, cases: Mapping[str, Case], *, python: Path | None = None) -> Runs:
    """Run all cases, a few at a time, against a server of their own; by the SDK that a Python has, if one is given."""

    async def all_of_them(server: ThreadedServer) -> Runs:
        holds = (await probe(Tier.BUBBLEWRAP)).holds
        program = await find_program(adapter, path=str(path), root=Path("/"), environ={"PATH": os.environ["PATH"]})
        driver = None if python is None else await find_driver(adapter, program, mode="sdk", python=python)
        homes = Homes(adapter.lasting)
        stand = Stand(adapter, program, server, homes, driver)
        runnable = {name: case for name, case in cases.items() if holds or not case.confined}
        runs = (stand.run(case, number) for number, case in enumerate(runnable.values()))
        try:
            return Runs(zip(runnable, await asyncio.gather(*runs), strict=True))
        finally:
            homes.close()

    with serve_in_thread() as server:
        return asyncio.run(all_of_them(server))


class Stand:
    """The program, who speaks its language, and what all runs share."""

    def __init__(
        self, adapter: Adapter, program: Program, server: ThreadedServer, homes: Homes, driver: Driver | None
    ) -> None:
        self._adapter = adapter
        self._program = program
        self._server = server
        self._homes = homes
        self._driver = driver
        self._turn = asyncio.Semaphore(_AT_ONCE)

    async def run(self, case: Case, number: int) -> Ran:
        """Run one case in a folder and a home that nothing else uses meanwhile."""
        scenario = f"{case.scenario},seed={number}"  # each case has its own counts
        address = self._server.url(scenario) if case.base_url is None else case.base_url
        async with self._turn:
            with tempfile.TemporaryDirectory(prefix="skillopt-real-") as folder, self._homes.lent() as home:
                work = Path(folder) / "work"
                _lay_out(work)
                stay = Stay(work=work, home=home, seconds=case.deadline, writes=case.writes)
                ended = await self._ended(case, address, stay)
                return Ran(
                    heard=self._adapter.heard(ended),
                    finished=ended.finished,
                    files={
                        path.name: path.read_text(errors="replace") for path in sorted(work.iterdir()) if path.is_file()
                    },
                    asked=tuple(entry.body for entry in self._server.log(scenario)),
                    alive=tuple(_left_behind(home)),
                )

    async def _ended(self, case: Case, address: str, stay: Stay) -> Ended:
        grounds = Confined(Sandbox(Tier.BUBBLEWRAP), way_to(address, ())) if case.confined else Unconfined()
        settings = CliSettings(model=case.model, base_url=address, wire=case.wire, price=PRICE)
        team = Team(
            adapter=self._adapter,
            program=self._program,
            grounds=grounds,
            settings=settings,
            key=lambda: KEY,
            driver=self._driver,
        )
        work, home = grounds.places(stay)
        job = Job(
            prompt="Read task.md and do it.",
            work=work,
            home=home,
            model=team.model,
            agent=case.agent,
            confined=case.confined,
            system=case.system,
            skill=SKILL if case.agent is not None else "",
            images=(f"{work}/dot.png",) if case.images else (),
            effort=case.effort,
            schema=case.schema,
            seconds=case.seconds,
            driven=team.driven,
        )
        return await team.start(self._adapter.command(job), stay, job)


def _lay_out(work: Path) -> None:
    for agents in (".agents", ".claude"):
        place = work / agents / "skills" / SKILL / "SKILL.md"
        place.parent.mkdir(parents=True)
        place.write_text(f"---\nname: {SKILL}\ndescription: When the tide comes.\n---\n\nRemember: {MARK}.\n")
    (work / "task.md").write_text("Write the number.\n")
    (work / "AGENTS.md").write_text(f"{FORBIDDEN_MARK}\n")
    (work / "dot.png").write_bytes(DOT)


def _left_behind(home: Path) -> list[str]:
    """Return the processes that know this home, by their environment or their words, and do not end in a moment."""
    mine = str(home).encode()
    found: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
            knows = mine in words or mine in (process / "environ").read_bytes()
            if knows and not has_ended(int(process.name), _DYING):
                found.append(words.replace(b"\0", b" ").decode(errors="replace"))
        except OSError:  # it ended meanwhile
            continue
    return found


DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
