"""What an agent did on the way to its answer: its steps, the tools it called, whether it opened the skill, its files.
Owns these values and how they are told in short; refuses to know any agent program's own format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Literal

import msgspec

from skillopt.domain.texts import clipped

LONGEST_STEP = 500
LONGEST_ACCOUNT = 4000
_SHOWN_ERRORS = 3
_SHOWN_FILES = 12

Seen = Literal["yes", "no", "failed", "unknown"]


class Action(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One step: something said, thought or done, or an error; `status` is how it went, such as `exit 1`."""

    kind: Literal["said", "thought", "ran", "error"]
    text: str
    tool: str = ""
    status: str = ""

    @property
    def line(self) -> str:
        """The step in one short piece."""
        words = {"said": "said", "thought": "thought", "ran": f"ran {self.tool}".rstrip(), "error": "error"}[self.kind]
        ending = f" [{clipped(self.status, LONGEST_STEP // 10)}]" if self.status else ""
        return clipped(f"{words}: {self.text.strip()}", LONGEST_STEP - len(ending)) + ending


class LeftFile(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A file that the agent made, changed or deleted: its text, or its bytes where it is none; neither if too large."""

    path: str
    size: int
    digest: str = ""
    text: str | None = None
    data: bytes | None = None
    deleted: bool = False

    @property
    def told(self) -> str:
        """The file in a few words."""
        return f"{self.path} ({'deleted' if self.deleted else f'{self.size} bytes'})"


class Transcript(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What one run of an agent's program came to, besides its answer.

    `calls` counts the calls of each tool; `shims` are those of our own harmless programs, in order. `raw` is what the
    program wrote on its output, bounded; `program` its name and version.
    """

    program: str
    actions: tuple[Action, ...] = ()
    calls: tuple[tuple[str, int], ...] = ()
    shims: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    skill_opened: Seen = "unknown"
    task_read: Seen = "unknown"
    files: tuple[LeftFile, ...] = ()
    requests: int = 0
    exit_code: int = 0
    attempts: int = 1
    raw: str = ""

    @property
    def errors(self) -> tuple[str, ...]:
        """The first errors the agent met."""
        return tuple(each.text for each in self.actions if each.kind == "error")[:_SHOWN_ERRORS]

    def account(self, *, until: int | None = None, room: int = LONGEST_ACCOUNT) -> str:
        """Return the steps as a numbered list, up to a step; where room is short the middle is left out."""
        lines = [f"{number}. {action.line}" for number, action in enumerate(self.actions[:until], 1)]
        if sum(len(line) + 1 for line in lines) <= room:
            return "\n".join(lines)
        head, tail = _fitting(lines, room // 3), _fitting(lines[::-1], room - room // 3 - 40)
        left_out = len(lines) - len(head) - len(tail)
        return "\n".join((*head, f"[… {left_out} steps left out …]", *tail[::-1]))

    def summary(self) -> str:
        """Return in a few lines how the agent went about it."""
        called = ", ".join(f"{name} {count}×" for name, count in self.calls)
        lines = [
            f"agent: {self.program}, exit code {self.exit_code}",
            f"task read: {self.task_read}; skill opened: {self.skill_opened}",
            f"tools called: {called or 'none'}",
        ]
        if self.shims:
            lines.append(f"commands of the task called: {_counted(self.shims)}")
        if self.files:
            more = f" and {len(self.files) - _SHOWN_FILES} more" if len(self.files) > _SHOWN_FILES else ""
            lines.append(f"files left: {', '.join(file.told for file in self.files[:_SHOWN_FILES])}{more}")
        if self.denied:
            lines.append(f"denied: {', '.join(self.denied)}")
        lines += [f"error: {clipped(error, LONGEST_STEP)}" for error in self.errors]
        return "\n".join(lines)

    def scrubbed(self, scrub: Callable[[str], str]) -> Transcript:
        """Return this transcript without secrets."""
        return msgspec.structs.replace(
            self,
            actions=tuple(msgspec.structs.replace(each, text=scrub(each.text)) for each in self.actions),
            denied=tuple(map(scrub, self.denied)),
            files=tuple(_scrubbed(file, scrub) for file in self.files),
            raw=scrub(self.raw),
        )


def _counted(names: tuple[str, ...]) -> str:
    return ", ".join(f"{name} {count}×" for name, count in Counter(names).items())


def _scrubbed(file: LeftFile, scrub: Callable[[str], str]) -> LeftFile:
    if file.text is None:
        return file
    text = scrub(file.text)
    return file if text == file.text else msgspec.structs.replace(file, text=text, digest="")


def _fitting(lines: list[str], room: int) -> list[str]:
    """Return as many of the first lines as there is room for."""
    kept: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept
