"""What a run of OpenCode came to: what was said and done, tokens, and why there is no answer.
Owns reading this from its events, and the order in which errors, exit code and words count; refuses to know files."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from skillopt.agents.opencode.events import FINISH, METADATA, TEXT, TOOL, Event, Fault, Metadata, Tool, fault
from skillopt.agents.program import Problem
from skillopt.agents.telling.calls import LONGEST_TEXT, Call, Outcome
from skillopt.agents.telling.complaints import complaint
from skillopt.agents.telling.lines import decoded
from skillopt.agents.telling.tokens import Tokens
from skillopt.domain.agency.transcripts import Action
from skillopt.kernel.process import Finished

_READERS = frozenset({"bash", "read"})
_REFUSALS = ("rejected permission", "specified a rule which prevents")
_LAST = "stop"
_SEARCHLESS = "ripgrep execution failed"

_NEEDS = (
    "OpenCode opens skills and searches with the program rg, and found none: install ripgrep, so that it is on PATH."
)


class Arguments(msgspec.Struct, frozen=True, rename={"file_path": "filePath"}):
    """What a tool is called with, as far as it says in short what the call does."""

    command: str | None = None
    file_path: str | None = None
    name: str | None = None
    pattern: str | None = None
    url: str | None = None

    @property
    def told(self) -> str:
        """The one that there is."""
        return next((each for each in (self.command, self.file_path, self.name, self.pattern, self.url) if each), "")


class Ran:
    """All that the events tell of a run, gathered one after the other."""

    def __init__(self, events: Sequence[Event]) -> None:
        self.actions: list[Action] = []
        self.calls: dict[str, Call] = {}
        self.session = ""
        self.requests = 0
        self.tokens = Tokens()
        self.reason = ""
        self.faults: list[Fault] = []
        self._texts: dict[str, list[str]] = {}
        for event in events:
            self.session = self.session or event.session
            self._take(event)

    @property
    def text(self) -> str:
        """The words of the last message that has any; none where the last request was for a tool."""
        return "" if self.reason == "tool-calls" else "\n".join(next(reversed(self._texts.values()), []))

    def _take(self, event: Event) -> None:
        if event.type in {"text", "reasoning"}:
            self._speak(event)
        elif event.type == "tool_use":
            self._call(event)
        elif event.type == "step_finish":
            self._finish(event)
        elif event.type == "error":
            self.faults.append(fault(event))
            self.actions.append(Action(kind="error", text=self.faults[-1].data.message[:LONGEST_TEXT]))

    def _speak(self, event: Event) -> None:
        part = decoded(event.part, TEXT)
        if part is None or not part.text:
            return
        said = event.type == "text"
        if said:
            self._texts.setdefault(part.message, []).append(part.text)
        self.actions.append(Action(kind="said" if said else "thought", text=part.text[:LONGEST_TEXT]))

    def _call(self, event: Event) -> None:
        part = decoded(event.part, TOOL)
        if part is None:
            return
        call = _call(part)
        self.calls[part.id or str(len(self.calls))] = call
        self.actions += call.steps()

    def _finish(self, event: Event) -> None:
        part = decoded(event.part, FINISH)
        if part is None:
            return
        self.requests += 1
        self.reason = part.reason
        if part.tokens is not None:
            self.tokens += part.tokens.tokens
        if part.reason == _LAST:
            self.faults.clear()  # whatever it was, it was overcome


_arguments = msgspec.json.Decoder(Arguments)


def _call(part: Tool) -> Call:
    state = part.state
    given = decoded(state.input, _arguments) or Arguments()
    outcome: Outcome = "unfinished"
    if state.status == "completed":
        outcome = "ok"
    elif state.status == "error":
        outcome = "denied" if any(words in state.error for words in _REFUSALS) else "failed"
    return Call(
        tool=part.tool,
        told=given.told or bytes(state.input).decode(errors="replace"),
        outcome=outcome,
        exit_code=(decoded(state.metadata, METADATA) or Metadata()).exit,
        error=state.error,
        skill=given.name or "" if part.tool == "skill" else "",
        reads=part.tool in _READERS,
    )


def problem(run: Ran, finished: Finished, log: str) -> Problem | None:
    """Return why there is no answer: an error it told, how it ended, or that it said nothing."""
    if run.faults:
        return _told(next((each for each in run.faults if each.data.status_code is not None), run.faults[0]))
    if finished.timed_out or finished.exit_code != 0:
        return _ended(finished, log)
    if any(call.error == _SEARCHLESS for call in run.calls.values()):
        return Problem(cause="crashed", message=_NEEDS)
    if run.reason == "length":
        return Problem(cause="truncated", message="The model's answer stopped at its output limit.")
    if not run.reason:
        return Problem(cause="crashed", message="OpenCode's output stopped before its end.")
    return None if run.text.strip() else Problem(cause="empty", message="OpenCode ended without an answer.")


def _ended(finished: Finished, log: str) -> Problem:
    if log:
        return complaint(log, otherwise="unavailable")
    if finished.timed_out:
        return Problem(cause="unavailable", message="OpenCode was still running when its time was up.")
    stderr = finished.stderr.decode(errors="replace").strip()
    return complaint(stderr or f"OpenCode ended with exit code {finished.exit_code} and said nothing.")


def _told(error: Fault) -> Problem:
    data = error.data
    after = data.response_headers.get("retry-after", "")
    return complaint(
        data.message or error.name,
        status=data.status_code,
        details=f"{error.name} {data.response_body}",
        retry_after=float(after) if after.isdigit() and after.isascii() else None,
    )
