"""The rules an answer can be held to: sections, words, patterns, lengths, tools.
Owns the operators and what each says when it is missed; refuses to know references and models."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Literal, NamedTuple

from skillopt.domain.errors import TaskError, UsageError, unknown_name
from skillopt.domain.scores import Score
from skillopt.domain.tasks import Check
from skillopt.environments.documents import Expectation, expectation
from skillopt.environments.patterns import compiled

_REFUSAL_LENGTH = 600  # a longer answer may begin with an apology and still be one
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*)")
_BOLD = re.compile(r"(\*\*|__)(.+)\1")
_TOOL_MARKER = re.compile(r"tool_call:[ \t]*([\w.-]+)", re.IGNORECASE)
_REFUSALS = (
    "i can't",
    "i cannot",
    "i can not",
    "i won't",
    "i am unable",
    "i'm unable",
    "i am not able",
    "i'm not able",
    "i am sorry, but",
    "i'm sorry, but",
    "i do not have enough information",
    "i don't have enough information",
    "as an ai",
    "sorry, i can",
    "sorry, but i",
)
_RIGHT = Score(hard=1.0, soft=1.0)


class Reply(NamedTuple):
    """An answer as the operators see it."""

    text: str
    folded: str
    calls: frozenset[str]


class Operator(NamedTuple):
    """A kind of check: what its argument must be, when it holds, and what is wrong when it does not."""

    wants: Literal["text", "pattern", "path", "bound", "nothing"]
    holds: Callable[[Reply, Check], bool]
    miss: str


def called_tools(reply: str) -> frozenset[str]:
    """Return the tools a reply says it called, by its `TOOL_CALL: name` markers."""
    return frozenset(name.casefold() for name in _TOOL_MARKER.findall(reply))


def problem(check: Check) -> str | None:
    """Return what is wrong with a check, or None: an unknown operator or an argument it cannot work with."""
    if check.op not in OPERATORS:
        return str(unknown_name("check", check.op, OPERATORS))
    match OPERATORS[check.op].wants:
        case "nothing":
            return None if check.arg is None else f"check {check.op!r} takes no arg"
        case "bound":
            whole = _whole(check.arg)
            return None if whole is not None and whole >= 0 else f"check {check.op!r} needs a whole number as arg"
        case wants:
            if not isinstance(check.arg, str) or not check.arg.strip():
                return f"check {check.op!r} needs a text as arg"
            return _reading_problem(wants, check.arg)


def grade(checks: Sequence[Check], answer: str, calls: Collection[str] = ()) -> Score:
    """Return hard 1 when all checks hold and soft as the share that does; an empty answer holds none."""
    if not checks:
        raise TaskError("This task has no check to grade by.", hint="Give it checks, a reference or a rubric.")
    if not answer.strip():
        return Score(hard=0.0, soft=0.0, feedback="The answer is empty.")
    reply = Reply(answer, answer.casefold(), frozenset(name.casefold() for name in calls))
    missed = [check for check in checks if not _operator(check).holds(reply, check)]
    if not missed:
        return _RIGHT
    feedback = "\n".join(_missed(check, len(answer)) for check in missed)
    return Score(hard=0.0, soft=(len(checks) - len(missed)) / len(checks), feedback=feedback)


def _operator(check: Check) -> Operator:
    if check.op not in OPERATORS:
        raise unknown_name("check", check.op, OPERATORS)
    return OPERATORS[check.op]


def _whole(arg: str | float | None) -> int | None:
    """Return a bound as an int; None for what is not a whole number. True is not a number here."""
    if isinstance(arg, bool):
        return None
    if isinstance(arg, float) and arg.is_integer():
        return int(arg)
    return arg if isinstance(arg, int) else None


def _reading_problem(wants: str, arg: str) -> str | None:
    try:
        if wants == "pattern":
            compiled(arg)
        elif wants == "path":
            _expected(arg)
    except UsageError as refused:
        return str(refused)
    return None


@lru_cache(maxsize=256)
def _expected(arg: str) -> Expectation:
    return expectation(arg)


def _missed(check: Check, length: int) -> str:
    operator = _operator(check)
    # what a path leads to is the answer, so the path alone is named
    arg = _expected(_text(check)).place if operator.wants == "path" else check.arg
    return operator.miss.format(arg=arg, length=length)


def _text(check: Check) -> str:
    if isinstance(check.arg, str):
        return check.arg
    raise UsageError(f"Check {check.op!r} needs a text as arg, and has {check.arg!r}.")


def _bound(check: Check) -> int:
    whole = _whole(check.arg)
    if whole is None:
        raise UsageError(f"Check {check.op!r} needs a whole number as arg, and has {check.arg!r}.")
    return whole


def _section_present(reply: Reply, check: Check) -> bool:
    """A heading that ends with the name, a bold line that has it, or the name as a label at the start of a line."""
    name = _text(check).casefold().strip()
    return any(_titles(line, name) for line in reply.folded.splitlines() if name in line)


def _titles(line: str, name: str) -> bool:
    heading, bold = _HEADING.match(line), _BOLD.fullmatch(line.strip())
    if heading and heading[1].rstrip().endswith(name):
        return True
    if bold and name in bold[2]:
        return True
    label = line.lstrip()
    return label.startswith(name) and label[len(name) :].lstrip().startswith(":")


def _section_contains(reply: Reply, check: Check) -> bool:
    """A heading with the text somewhere in it."""
    name = _text(check).casefold()
    return any(heading is not None and name in heading[1] for heading in map(_HEADING.match, reply.folded.splitlines()))


def _no_refusal(reply: Reply, _: Check) -> bool:
    """The answer is long, or does not open like a refusal."""
    opening = reply.folded.replace("’", "'").lstrip("#>*-_`~ \t\r\n")
    return len(reply.text) >= _REFUSAL_LENGTH or not opening.startswith(_REFUSALS)


OPERATORS: Mapping[str, Operator] = MappingProxyType(
    {
        "section_present": Operator("text", _section_present, "The answer has no section named '{arg}'."),
        "section_contains": Operator("text", _section_contains, "No heading of the answer contains '{arg}'."),
        "regex": Operator(
            "pattern",
            lambda reply, check: compiled(_text(check)).search(reply.text) is not None,
            "Nothing in the answer has the form {arg}",
        ),
        "json_path": Operator(
            "path",
            lambda reply, check: _expected(_text(check)).met(reply.text),
            "The answer is not a JSON document with what is expected at {arg}.",
        ),
        "max_chars": Operator(
            "bound",
            lambda reply, check: len(reply.text) <= _bound(check),
            "The answer has {length} characters; at most {arg} are allowed.",
        ),
        "min_chars": Operator(
            "bound",
            lambda reply, check: len(reply.text) >= _bound(check),
            "The answer has {length} characters; at least {arg} are needed.",
        ),
        "contains": Operator(
            "text", lambda reply, check: _text(check).casefold() in reply.folded, "The answer does not mention '{arg}'."
        ),
        "not_contains": Operator(
            "text",
            lambda reply, check: _text(check).casefold() not in reply.folded,
            "The answer contains '{arg}', which it must not.",
        ),
        "no_refusal": Operator("nothing", _no_refusal, "The answer declines the task."),
        "tool_called": Operator(
            "text",
            lambda reply, check: _text(check).casefold() in reply.calls,
            "The tool '{arg}' was not called.",
        ),
    }
)
