"""Starting and stopping the scripted server: in the running loop, or in a thread with a loop of its own.
Owns the listening socket; knows nothing of what is asked."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TypeVar
from urllib.parse import quote

from skillopt.domain.errors import SkilloptError
from skillopt.testing.brains import BRAINS
from skillopt.testing.conversation import Brain
from skillopt.testing.server.connection import Connection, drop_all
from skillopt.testing.server.ledger import LoggedRequest, RoleStats
from skillopt.testing.server.service import Service, Settings

_HOST = "127.0.0.1"
_BACKLOG = 2048
_PLAIN = ",=+:"
Result = TypeVar("Result")


class ScriptedServer:
    """The server in the running loop: `async with ScriptedServer() as server`. It listens on loopback only."""

    def __init__(self, settings: Settings = Settings(), *, port: int = 0, brains: Mapping[str, Brain] = BRAINS) -> None:
        self._service = Service(settings, brains)
        self._wanted_port = port
        self._server: asyncio.Server | None = None
        self._opened: set[Connection] = set()
        self.port = port

    async def __aenter__(self) -> ScriptedServer:
        self._server = await asyncio.get_running_loop().create_server(
            lambda: Connection(self._service.handle, self._opened), _HOST, self._wanted_port, backlog=_BACKLOG
        )
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_raised: object) -> None:
        if self._server is not None:
            self._server.close()
            drop_all(self._opened)
            await self._server.wait_closed()

    @property
    def root(self) -> str:
        """The address without a path."""
        return f"http://{_HOST}:{self.port}"

    def url(self, scenario: str) -> str:
        """Return the base URL under which a scenario is played."""
        return f"{self.root}/s/{quote(scenario, safe=_PLAIN)}/v1"

    def stats(self, scenario: str) -> Mapping[str, RoleStats]:
        """Return the counts of a scenario by role."""
        return self._service.stats(scenario)

    def log(self, scenario: str | None = None) -> tuple[LoggedRequest, ...]:
        """Return the latest requests, oldest first."""
        return self._service.log(scenario)


class ThreadedServer:
    """A handle on a server that runs in another thread."""

    def __init__(self, server: ScriptedServer, loop: asyncio.AbstractEventLoop) -> None:
        self._server = server
        self._loop = loop
        self.port = server.port
        self.root = server.root

    def url(self, scenario: str) -> str:
        """Return the base URL under which a scenario is played."""
        return self._server.url(scenario)

    def stats(self, scenario: str) -> Mapping[str, RoleStats]:
        """Return the counts of a scenario by role."""
        return self._ask(lambda: self._server.stats(scenario))

    def log(self, scenario: str | None = None) -> tuple[LoggedRequest, ...]:
        """Return the latest requests, oldest first."""
        return self._ask(lambda: self._server.log(scenario))

    def stop(self, stopped: asyncio.Event) -> None:
        """Set the event that ends the server, from this thread."""
        self._loop.call_soon_threadsafe(stopped.set)

    def _ask(self, question: Callable[[], Result]) -> Result:
        async def asked() -> Result:
            return question()

        return asyncio.run_coroutine_threadsafe(asked(), self._loop).result()


@contextmanager
def serve_in_thread(
    settings: Settings = Settings(), *, port: int = 0, brains: Mapping[str, Brain] = BRAINS
) -> Iterator[ThreadedServer]:
    """Run a server in a thread of its own while the block runs."""
    started: Future[tuple[ThreadedServer, asyncio.Event]] = Future()

    async def serve() -> None:
        stop = asyncio.Event()
        async with ScriptedServer(settings, port=port, brains=brains) as server:
            started.set_result((ThreadedServer(server, asyncio.get_running_loop()), stop))
            await stop.wait()

    def run() -> None:
        try:
            asyncio.run(serve())
        except (OSError, SkilloptError) as error:
            started.set_exception(error)

    thread = threading.Thread(target=run, name="scripted-server", daemon=True)
    thread.start()
    handle, stop = started.result()
    try:
        yield handle
    finally:
        handle.stop(stop)
        thread.join()
