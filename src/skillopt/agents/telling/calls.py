"""What an agent did with its tools, by whatever name its program calls them.
Owns telling calls as steps, and whether skill and task were opened; refuses to know any program's events."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import msgspec

from skillopt.domain.agency.transcripts import LONGEST_STEP, Action, Seen

Outcome = Literal["ok", "failed", "denied", "unfinished"]
LONGEST_TEXT = 4 * LONGEST_STEP
_COMMANDS = re.compile(r"[;&|\n]+")
_LOOKERS = frozenset({"find", "ls", "test", "stat", "echo", "printf", "rm", "mv", "touch"})


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a tool. `told` is what it was for: a command, a path, a pattern; `skill` the skill it opened.

    `reads` says that it shows a file or runs a command; `exit_code` is that of a command, where the program tells it.
    """

    tool: str
    told: str
    outcome: Outcome
    exit_code: int | None = None
    error: str = ""
    skill: str = ""
    reads: bool = False

    @property
    def failed(self) -> bool:
        """Whether it did not come to a good end."""
        return self.outcome != "ok" or bool(self.exit_code)

    @property
    def status(self) -> str:
        """How it went, in a word or two."""
        return f"exit {self.exit_code}" if self.outcome == "ok" and self.exit_code is not None else self.outcome

    def steps(self) -> Iterator[Action]:
        """Yield what happened: the call, and its error if it had one."""
        yield Action(kind="ran", text=self.told[:LONGEST_TEXT], tool=self.tool, status=self.status)
        if self.error:
            yield Action(kind="error", text=self.error[:LONGEST_TEXT])

    def opens(self, file: str) -> bool:
        """Whether it shows a file of this name, going by its words: naming a file is not yet reading it."""
        if not self.reads or file not in self.told:
            return False
        pieces = (piece.split() for piece in _COMMANDS.split(self.told) if file in piece)
        return any(words and words[0] not in _LOOKERS for words in pieces)


def counted(calls: Sequence[Call]) -> tuple[tuple[str, int], ...]:
    """Return how often each tool was called."""
    return tuple(sorted(Counter(call.tool for call in calls).items()))


def denied(calls: Sequence[Call]) -> tuple[str, ...]:
    """Return what was not permitted, each once."""
    refused = (f"{call.tool}: {call.told}"[:LONGEST_STEP] for call in calls if call.outcome == "denied")
    return tuple(dict.fromkeys(refused))


def skill_opened(calls: Sequence[Call], skill: str) -> Seen:
    """Say whether the skill was opened, by the tool for it or as a file."""
    if not skill:
        return "unknown"
    return _seen(calls, lambda call: call.skill == skill or call.opens("SKILL.md"))


def task_read(calls: Sequence[Call]) -> Seen:
    """Say whether the file with the task was read."""
    return _seen(calls, lambda call: call.opens("task.md"))


def _seen(calls: Sequence[Call], wanted: Callable[[Call], bool]) -> Seen:
    tries = [call for call in calls if wanted(call)]
    if not tries:
        return "no"
    return "failed" if all(call.failed for call in tries) else "yes"
