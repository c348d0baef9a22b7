"""Scripts: what a model does turn by turn, whoever asks, written as JSON in the name of a brain.
Owns the turns and their spelling; a turn is chosen by the tool results in the request, so nothing is remembered.

Example: `script:[{"sh": "ls"}, {"skill": "tides"}, {"text": "Done."}]`."""

from __future__ import annotations

import json

import msgspec

from skillopt.domain.errors import UsageError
from skillopt.testing.conversation import Brain, BrainReply, Conversation, ToolCall
from skillopt.testing.faults import FaultKind
from skillopt.testing.tooluse.toolbox import (
    Arguments,
    answer_call,
    broken_call,
    results,
    shell_call,
    skill_call,
    tool_call,
)

SCRIPT = "script:"
_LOOKS = (
    'Give a list of turns such as [{"sh": "ls"}, {"text": "Done."}]; a turn may have a text and at most one of '
    "sh, skill, struct, call, raw, fault."
)
_DONE = "Done."
_NO_TOOL = "I have no tool for that."


class ScriptTurn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One turn: what is said, and at most one thing that is done.

    `sh` runs a command, `skill` opens a skill, `struct` is the answer as an object, `call` names a tool and its
    arguments, `raw` calls the shell with this text in place of its arguments, and `fault` fails in this way each time.
    """

    text: str = ""
    sh: str | None = None
    skill: str | None = None
    struct: Arguments | None = None
    call: tuple[str, Arguments] | None = None
    raw: str | None = None
    fault: FaultKind | None = None

    def __post_init__(self) -> None:
        deeds = [self.sh, self.skill, self.struct, self.call, self.raw, self.fault]
        if sum(deed is not None for deed in deeds) > 1:
            raise ValueError("a turn does one thing at most")
        if not self.text and all(deed is None for deed in deeds):
            raise ValueError("a turn says or does something")


_decoder = msgspec.json.Decoder(tuple[ScriptTurn, ...])


def script(*turns: ScriptTurn) -> str:
    """Return the name of the brain that takes these turns."""
    return SCRIPT + msgspec.json.encode(turns).decode()


def script_length(text: str) -> int:
    """Return how many characters of a scenario are a script; 0 when it begins with no script."""
    if not text.startswith(SCRIPT):
        return 0
    try:
        return json.JSONDecoder().raw_decode(text, len(SCRIPT))[1]
    except ValueError as error:
        raise UsageError(f"The script in the scenario is not JSON: {error}.", hint=_LOOKS) from None


def read_script(name: str) -> tuple[ScriptTurn, ...]:
    """Read the turns that a brain's name spells out."""
    try:
        turns = _decoder.decode(name.removeprefix(SCRIPT))
    except msgspec.DecodeError as error:
        raise UsageError(f"The script in the scenario cannot be read: {error}.", hint=_LOOKS) from None
    if not turns:
        raise UsageError("The script in the scenario has no turns.", hint=_LOOKS)
    return turns


def script_brain(turns: tuple[ScriptTurn, ...]) -> Brain:
    """Return the brain that takes these turns, one for each answer of its tools, and then repeats its last words."""
    last_words = next((turn.text for turn in reversed(turns) if turn.text), _DONE)

    def reply(conversation: Conversation) -> BrainReply:
        """Take the turn that comes after the results so far; a caller without tools, as for a title, gets text."""
        taken = results(conversation)
        plain = not conversation.tools and conversation.form is msgspec.UNSET
        if plain or taken >= len(turns):
            return BrainReply(text=last_words)
        return _taken(turns[taken], conversation)

    return reply


def _taken(turn: ScriptTurn, conversation: Conversation) -> BrainReply:
    if turn.fault is not None:
        return BrainReply(text=turn.text or _DONE, fault=turn.fault)
    call = _call(turn, conversation)
    if call is not None:
        return BrainReply(text=turn.text, calls=(call,), finish="tool")
    if turn.struct is not None:
        return BrainReply(text=msgspec.json.encode(turn.struct).decode())
    return BrainReply(text=turn.text or _NO_TOOL)


def _call(turn: ScriptTurn, conversation: Conversation) -> ToolCall | None:
    """Return the call that does what the turn says; None where it only speaks, or the caller has no tool for it."""
    if turn.sh is not None:
        return shell_call(conversation, turn.sh)
    if turn.skill is not None:
        return skill_call(conversation, turn.skill)
    if turn.struct is not None:
        return answer_call(conversation, turn.struct)
    if turn.call is not None:
        name, arguments = turn.call
        return tool_call(conversation, name, msgspec.json.encode(arguments).decode())
    return None if turn.raw is None else broken_call(conversation, turn.raw)
