"""A run on a workbench: one scripted model, one journal in memory, virtual time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from skillopt.domain.chat import Message
from skillopt.kernel.events import Event, Signal
from skillopt.kernel.limits.terms import LimitSettings, Terms
from skillopt.kernel.memory import MemoryJournal, MemoryShelf
from skillopt.kernel.observers import Observers
from skillopt.kernel.payment.retry import RetrySettings
from skillopt.kernel.ports import Observer
from skillopt.kernel.run import Run
from skillopt.kernel.work import Ask, Asker
from skillopt.testing.clock import VirtualClock, run_virtual
from skillopt.testing.scripted import ScriptedChat

Result = TypeVar("Result")


class Notebook:
    """An observer that keeps what it sees."""

    def __init__(self) -> None:
        self.facts: list[Event | Signal] = []

    def see(self, fact: Event | Signal) -> None:
        """Keep a fact."""
        self.facts.append(fact)


class Bench:
    """Makes runs over one shelf, all with the same model."""

    def __init__(self, chat: ScriptedChat, *, limits: LimitSettings = LimitSettings(concurrency=4)) -> None:
        self.chat = chat
        self.limits = limits
        self.shelf = MemoryShelf()
        self.asker = Asker(verb="rollout", role="target", chat=chat, max_tokens=100)

    def asks(self, *texts: str) -> list[Ask]:
        """Return the works of asking these."""
        return [self.asker.ask((Message("user", text),)) for text in texts]

    def live(
        self,
        doing: Callable[[Run], Awaitable[Result]],
        *,
        name: str = "run",
        observers: Sequence[Observer] = (),
        scrub: Callable[[str], str] = str,
        journal: MemoryJournal | None = None,
    ) -> Result:
        """Do something with a new session of a run, over a journal of its own or the one given."""
        given = journal

        async def session() -> Result:
            clock = VirtualClock()
            journal = MemoryJournal(self.shelf, clock=clock) if given is None else given
            terms = Terms(
                journal=journal,
                handle=journal.open_run(name, b"plan"),
                clock=clock,
                limits=self.limits,
                retry=RetrySettings(),
                scrub=scrub,
            )
            run = Run(terms, Observers(observers))
            try:
                return await doing(run)
            finally:
                await run.close()
                await journal.close()

        return run_virtual(session())
