"""What the tests of the Journal contract stand on: a disk, sample records, and how to expect a refusal.
Owns no promise; refuses to know which journal is tested."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from skillopt.domain.chat import Reply
from skillopt.domain.errors import SkilloptError, StoreError
from skillopt.domain.rollouts import Failure
from skillopt.domain.usage import Usage
from skillopt.kernel.journal import Intent, Journal, Ref, Result, RunHandle

WORST = Usage(calls=1, input_tokens=100, output_tokens=50, nano_usd=700)
COST = Usage(calls=1, input_tokens=90, cached_tokens=10, output_tokens=20, nano_usd=300)
FAILURE = Failure(kind="UnavailableError", who="provider", message="The provider hung up. Try again.")
PLAN = b"plan"


class JournalSuite:
    """Tests of a journal; each gets a folder of its own."""

    def make(self, tmp_path: Path) -> Callable[[], Journal]:
        """Return a function that opens a journal, each time over the same disk, which is empty at first."""
        raise NotImplementedError


Suite = TypeVar("Suite", bound=JournalSuite)


class Disk:
    """Opens journals over one disk and closes those that a test left open."""

    def __init__(self, reopen: Callable[[], Journal]) -> None:
        self._reopen = reopen
        self._opened: list[Journal] = []

    def open(self) -> Journal:
        """Open one more journal over the disk."""
        self._opened.append(self._reopen())
        return self._opened[-1]

    async def close(self) -> None:
        """Close whatever is open."""
        await asyncio.gather(*(journal.close() for journal in self._opened), return_exceptions=True)


def reply(text: str) -> Reply:
    """Return an answer."""
    return Reply(text=text, usage=COST, model="m-1", request_id="r-7", seconds=0.25)


async def send(
    journal: Journal, run: RunHandle, attempt: int, key: bytes, value: Reply | Failure | None, *, early: bool = False
) -> Ref:
    """Record an attempt, and what came of it unless that is None."""
    await journal.intend(run, Intent(attempt=attempt, key=key, role="target", worst=WORST, speculative=early))
    if value is not None:
        journal.settle(run, Result(attempt=attempt, key=key, charged=COST, value=value))
    return Ref(run.number, attempt)


def refused(error: type[Exception], call: Callable[[], object], *words: str) -> None:
    """Fail unless a call raises this error with these words in its message."""
    try:
        value = call()
    except error as refusal:
        missing = [word for word in words if word not in str(refusal)]
        assert not missing, f"the message {str(refusal)!r} does not say {missing}"
        return
    raise AssertionError(f"no {error.__name__}, but {value!r}")


async def refused_later(call: Awaitable[object]) -> None:
    """Fail unless an awaitable raises a StoreError."""
    try:
        await call
    except StoreError:
        return
    raise AssertionError("no StoreError")


def story(test: Callable[[Suite, Disk], Awaitable[None]]) -> Callable[[Suite, Path], None]:
    """Turn a test that takes a disk into one that pytest can run."""

    def run(self: Suite, tmp_path: Path) -> None:
        async def main() -> None:
            disk = Disk(self.make(tmp_path))
            try:
                await test(self, disk)
            finally:
                await disk.close()

        asyncio.run(main())

    run.__doc__ = test.__doc__
    return run


def broken_promises(suite: JournalSuite, folder: Path) -> tuple[str, ...]:
    """Run every test of a suite, each in a folder of its own, and return the names of those that failed."""
    broken = []
    for name in sorted(name for name in dir(suite) if name.startswith("test_")):
        own = folder / name
        own.mkdir()
        try:
            getattr(suite, name)(own)
        except (AssertionError, SkilloptError, LookupError):
            broken.append(name)
    return tuple(broken)
