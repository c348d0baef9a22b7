"""A program that was found, who speaks its language, where it runs, and which model it asks.
Owns starting it with nothing but what it is given; refuses to know what it is started for."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

from skillopt.agents.finding import Driver, Program
from skillopt.agents.grounds import Grounds, Stay
from skillopt.agents.program import Adapter, Command, Ended, Job, Model
from skillopt.agents.settings import CliSettings
from skillopt.agents.shims import BIN
from skillopt.domain.chat import ModelIdentity
from skillopt.domain.usage import Usage

SHARE_OF_A_REQUEST = 0.9  # of the deadline: the program's own time-out comes first, and says more
_XDG: Mapping[str, str] = MappingProxyType(
    {
        "XDG_CONFIG_HOME": ".config",
        "XDG_CACHE_HOME": ".cache",
        "XDG_DATA_HOME": ".local/share",
        "XDG_STATE_HOME": ".local/state",
    }
)


class Team(msgspec.Struct, frozen=True, kw_only=True):
    """A program that was found, who speaks its language, where it runs, and which model it asks.

    `key` is called when a run needs it and its word is kept nowhere. `driver` is what starts the
    program where its SDK drives it.
    """

    adapter: Adapter
    program: Program
    grounds: Grounds
    settings: CliSettings
    key: Callable[[], str] | None
    driver: Driver | None = None

    @property
    def driven(self) -> str:
        """Where the program is when its SDK is to start it, and nothing when we do."""
        return "" if self.driver is None else str(self.program.path)

    @property
    def model(self) -> Model:
        """The model as the program is told of it."""
        settings = self.settings
        return Model(
            name=settings.model,
            base_url=self.grounds.address(settings.base_url),
            key=None if self.key is None else self.key(),
            wire=settings.wire,
            price=settings.price,
        )

    def identity(self, sampling: str) -> ModelIdentity:
        """Return who answers: the version of the program is part of it, and that of the SDK which drives it."""
        settings = self.settings
        by = "" if self.driver is None else f" by sdk {self.driver.python.version}"
        return ModelIdentity(
            backend=f"{self.adapter.name} {self.program.version}{by}",
            address=settings.alias or settings.base_url or "its own provider",
            model=settings.model or "its own choice",
            sampling=sampling,
        )

    async def start(self, command: Command, stay: Stay, job: Job) -> Ended:
        """Run the program to its end, with the environment it is given and no other."""
        await asyncio.to_thread(_furnish, stay.home, command.home_files)
        env = {
            "HOME": job.home,
            "PATH": self._search(stay),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            **{name: f"{job.home}/{place}" for name, place in _XDG.items()},
            **command.env,
        }
        program, words = self.program, command.args
        if job.driven and self.driver is not None:
            program, words = self.driver.python, (*self.driver.words, *command.args)
        finished = await self.grounds.run(program, words, env, command.stdin, stay)
        return Ended(job=job, finished=finished, home=stay.home)

    def _search(self, stay: Stay) -> str:
        """Return where programs are looked for: the task's own tools come last, so that they hide none."""
        if stay.tools is None:
            return self.program.search
        return os.pathsep.join((self.program.search, f"{self.grounds.tools(stay.tools)}/{BIN}"))

    def reserved(self, *, read: int = 0, written: int, times: int = 1) -> Usage:
        """Return what so many runs are reserved at, of so many tokens each; a program may have all it reads cached."""
        read, written, price = read * times, written * times, self.settings.price
        nano = 0
        if price is not None:
            kept = read if price.cache_write is not None and price.cache_write > price.input else 0
            nano = price.cost(input_tokens=read, cached_tokens=0, output_tokens=written, cache_written_tokens=kept)
        return Usage(calls=times, input_tokens=read, output_tokens=written, nano_usd=nano)


def _furnish(home: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        place = home / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
