"""What Claude Code did on the way: its steps, its calls of tools, and whether it opened the skill and read the task.
Owns telling this from its lines; refuses to know whether the run ended well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from skillopt.agents.claude_code.events import Block, Line
from skillopt.agents.claude_code.permits import SKILL
from skillopt.domain.agency.transcripts import LONGEST_STEP, Action, Seen

ANSWER = "StructuredOutput"
_SKILL_FILE, _TASK_FILE = "SKILL.md", "task.md"
_READERS = frozenset({"Read", "Bash"})
_EXIT = "Exit code "
_NOT_OFFERED = "is disabled for this session"
_LONGEST_TEXT = 4 * LONGEST_STEP


class Input(msgspec.Struct, frozen=True):
    """What a tool is called with, as far as it says in short what the call does."""

    command: str | None = None
    file_path: str | None = None
    skill: str | None = None
    pattern: str | None = None
    url: str | None = None
    query: str | None = None

    @property
    def told(self) -> str:
        """The one that there is."""
        found = (self.command, self.file_path, self.skill, self.pattern, self.url, self.query)
        return next((each for each in found if each), "")


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a tool; `result` is None where it was cut off before it had one."""

    id: str
    name: str
    input: Input
    raw: bytes
    result: Block | None
    denied: bool

    @property
    def failed(self) -> bool:
        """Whether it did not come to a good end."""
        return self.denied or self.result is None or self.result.is_error is True

    @property
    def status(self) -> str:
        """How it went, in a word."""
        if self.denied:
            return "denied"
        if self.result is None:
            return "unfinished"
        words = self.result.words
        if self.failed and words.startswith(_EXIT):
            return "exit " + words.removeprefix(_EXIT).split("\n", 1)[0][:8].strip()
        return "error" if self.failed else "ok"


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """All that was done, in order; the answer by a schema is no call."""

    actions: tuple[Action, ...]
    made: tuple[Call, ...]
    answers: tuple[Call, ...]
    denied: tuple[str, ...]

    @property
    def counts(self) -> tuple[tuple[str, int], ...]:
        """How often each tool was called."""
        return tuple(sorted(Counter(call.name for call in self.made).items()))

    def skill_opened(self, skill: str) -> Seen:
        """Whether the skill was opened, by the tool for it or as a file."""

        def opens(call: Call) -> bool:
            return call.input.skill == skill if call.name == SKILL else _reads(call, _SKILL_FILE)

        return _seen(self.made, opens)

    @property
    def task_read(self) -> Seen:
        """Whether the file with the task was read."""
        return _seen(self.made, lambda call: _reads(call, _TASK_FILE))


def account(lines: Sequence[Line]) -> Account:
    """Return what the lines tell was done."""
    results = {
        block.tool_use_id: block
        for line in lines
        for block in _blocks(line, "user")
        if block.type == "tool_result" and block.tool_use_id
    }
    refused = dict(_refusals(lines))
    calls: dict[str, Call] = {}
    actions: list[Action] = []
    for line in lines:
        for block in _blocks(line, "assistant"):
            if block.type != "tool_use":
                actions += _said(block, synthetic=line.is_synthetic)
            elif (block.id or "") not in calls:
                call = _call(block, results.get(block.id or ""), refused)
                calls[call.id] = call
                actions += _done(call)
    made = tuple(call for call in calls.values() if call.name != ANSWER)
    return Account(
        actions=tuple(actions),
        made=made,
        answers=tuple(call for call in calls.values() if call.name == ANSWER),
        denied=(
            *(call.name for call in made if call.denied),
            *(name for id, name in refused.items() if name and id not in calls),
        ),
    )


def _blocks(line: Line, type: str) -> Iterator[Block]:
    if line.type == type and line.message is not None:
        yield from line.message.blocks


def _refusals(lines: Iterable[Line]) -> Iterator[tuple[str, str]]:
    """Yield the calls that were not permitted: told when it happened, at the end, and in the transcript."""
    for line in lines:
        if line.subtype == "permission_denied":
            yield line.tool_use_id or "", line.tool_name or ""
        for denial in line.permission_denials or ():
            yield denial.tool_use_id or "", denial.tool_name or ""
        if line.noted_denial is not None:
            yield from ((block.tool_use_id, "") for block in _blocks(line, "user") if block.tool_use_id)


def _call(block: Block, result: Block | None, refused: dict[str, str]) -> Call:
    try:
        given = msgspec.json.decode(block.input, type=Input)
    except (msgspec.DecodeError, UnicodeError, RecursionError):  # the bytes are told as they are
        given = Input()
    return Call(
        id=block.id or "",
        name=block.name or "",
        input=given,
        raw=bytes(block.input),
        result=result,
        denied=block.id in refused or (result is not None and _NOT_OFFERED in result.words),
    )


def _said(block: Block, *, synthetic: bool) -> Iterator[Action]:
    if block.type == "text" and block.text:
        yield Action(kind="error" if synthetic else "said", text=block.text[:_LONGEST_TEXT])
    if block.type == "thinking" and block.thinking:
        yield Action(kind="thought", text=block.thinking[:_LONGEST_TEXT])


def _done(call: Call) -> Iterator[Action]:
    told = call.input.told or call.raw.decode(errors="replace")
    if call.name == ANSWER and not call.failed:
        yield Action(kind="said", text=told[:_LONGEST_TEXT])
        return
    yield Action(kind="ran", text=told[:_LONGEST_TEXT], tool=call.name, status=call.status)
    if call.failed and call.result is not None:
        yield Action(kind="error", text=call.result.words[:_LONGEST_TEXT])


def _reads(call: Call, file: str) -> bool:
    return call.name in _READERS and file in call.input.told


def _seen(calls: Iterable[Call], wanted: Callable[[Call], bool]) -> Seen:
    tried = [call for call in calls if wanted(call)]
    if not tried:
        return "no"
    return "failed" if all(call.failed for call in tried) else "yes"
