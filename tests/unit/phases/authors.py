"""An optimizer that gives the replies it is handed, at work on a run of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from skillopt.kernel.run import Run
from skillopt.kernel.work import STAGES, Asker, Staff
from skillopt.phases.prompting import Prompts
from skillopt.phases.proposals.author import Author, Permissions
from skillopt.phases.proposals.modes import MODES, Mode
from skillopt.testing.conversation import Brain, BrainReply, Conversation
from skillopt.testing.faults import FaultKind
from skillopt.testing.scripted import ScriptedChat
from tests.unit.kernel.bench import Bench

Result = TypeVar("Result")


class Replies:
    """Gives these replies in turn, the last one for ever; the word `fail` is a failure. Keeps what it was shown."""

    def __init__(self, *replies: str) -> None:
        self._replies = replies
        self.shown: list[Conversation] = []

    def __call__(self, conversation: Conversation) -> BrainReply:
        """Answer the next one."""
        self.shown.append(conversation)
        said = self._replies[min(len(self.shown), len(self._replies)) - 1]
        return BrainReply(fault=FaultKind.CONTEXT) if said == "fail" else BrainReply(text=said)

    @property
    def kinds(self) -> list[str]:
        """The first line of each prompt."""
        return [conversation.system.partition("\n")[0].removeprefix("Task: ") for conversation in self.shown]


def authored(
    brain: Brain,
    doing: Callable[[Author], Awaitable[Result]],
    *,
    mode: Mode = MODES["patch"],
    prompts: Prompts = Prompts(),
    permissions: Permissions = Permissions(),
) -> Result:
    """Return what an author with this brain comes to."""
    chat = ScriptedChat(brain, model="opt")
    staff = Staff({stage: Asker(verb=stage, role="optimizer", chat=chat, max_tokens=2000) for stage in STAGES})

    async def work(run: Run) -> Result:
        return await doing(Author(run=run, staff=staff, prompts=prompts, mode=mode, permissions=permissions))

    return Bench(chat).live(work)
