"""What Codex did, step by step: calls of its tools among the words of its model.
Owns what is read out of them: counts, refusals and whether a file was opened; refuses to know where they were written.
Codex has no tool for skills: its model opens the file with a command, so what it opened is read off its commands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import msgspec

from skillopt.domain.agency.transcripts import Action, Seen


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A call of a tool: the command or what else it was given, and how it ended; `status` is empty while it runs.

    `reads` is whether it may have read a file itself: not where it only lists files, or a script has calls of its own.
    """

    tool: str
    text: str
    status: str = ""
    failed: bool = False
    denied: bool = False
    reads: bool = True

    @property
    def action(self) -> Action:
        """The call as a step of a transcript."""
        return Action(kind="ran", text=self.text, tool=self.tool, status=self.status)


Step = Action | Call


def actions(steps: Iterable[Step]) -> tuple[Action, ...]:
    """Return the steps of a transcript."""
    return tuple(step.action if isinstance(step, Call) else step for step in steps)


def calls(steps: Iterable[Step]) -> tuple[Call, ...]:
    """Return the calls among the steps."""
    return tuple(step for step in steps if isinstance(step, Call))


def counts(made: Iterable[Call]) -> tuple[tuple[str, int], ...]:
    """Return how often each tool was called, in the order of their first calls."""
    return tuple(Counter(call.tool for call in made).items())


def denied(made: Iterable[Call]) -> tuple[str, ...]:
    """Return the tools that were refused, each once."""
    return tuple(dict.fromkeys(call.tool for call in made if call.denied))


def opened(made: Iterable[Call], file: str, *beside: str) -> Seen:
    """Say whether a command that names this file, and one of the words beside it if there are any, read it."""
    named = re.compile(rf"(?<![\w.-]){re.escape(file)}(?!\w)")
    seen: Seen = "no"
    for call in made:
        if not call.reads or named.search(call.text) is None:
            continue
        if beside and not any(word in call.text for word in beside):
            continue
        if not call.failed:
            return "yes"
        seen = "failed"
    return seen
