"""Where the answer stands in a reply.
Owns the ways of finding it; refuses to know whether it is right."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

import msgspec

from skillopt.domain.errors import unknown_name
from skillopt.environments.patterns import Pattern, compiled

_TAG = re.compile(r"<(/?)answer>", re.IGNORECASE | re.ASCII)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")

Extractor = Callable[[str], str]


class RegexAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The answer is the last match of a pattern: its first group, or all of it when there is no group.

    regex: The pattern, in RE2 syntax.
    """

    regex: str


def tagged(reply: str) -> str:
    """Return what the last `<answer>…</answer>` holds; the whole reply when there is none."""
    if "</" not in reply:
        return reply.strip()
    answer: str | None = None
    opened: int | None = None
    # one walk over the tags, so that a reply full of opened ones costs no more than any other
    for tag in _TAG.finditer(reply):
        if not tag[1]:
            opened = tag.end()
        elif opened is not None:
            answer, opened = reply[opened : tag.start()], None
    return (reply if answer is None else answer).strip()


def last_line(reply: str) -> str:
    """Return the last line that is not empty."""
    return reply.strip().rpartition("\n")[2].strip()


def full(reply: str) -> str:
    """Return the whole reply, trimmed."""
    return reply.strip()


def code(reply: str) -> str:
    """Return what the last code fence holds, one that is cut off too; the whole reply when there is none."""
    if "```" not in reply and "~~~" not in reply:
        return reply.strip()
    found: list[str] | None = None
    fence = ""
    for line in reply.split("\n"):
        mark = _FENCE.match(line)
        if not fence:
            if mark is not None and not (mark[1][0] == "`" and "`" in mark[2]):
                fence, found = mark[1], []
        elif mark is not None and mark[1].startswith(fence) and not mark[2].strip():
            fence = ""
        elif found is not None:
            found.append(line)
    return reply.strip() if found is None else "\n".join(found).strip("\n")


MODES: Mapping[str, Extractor] = MappingProxyType({"tag": tagged, "last_line": last_line, "full": full, "code": code})


def extractor(mode: str | RegexAnswer) -> Extractor:
    """Return the function that finds the answer in a reply; a reply without a match of the pattern has an empty one."""
    if isinstance(mode, RegexAnswer):
        return _last_match(compiled(mode.regex))
    if mode not in MODES:
        raise unknown_name("answer mode", mode, MODES)
    return MODES[mode]


def _last_match(pattern: Pattern) -> Extractor:
    group = 1 if pattern.groups else 0

    def extract(reply: str) -> str:
        answer: str | None = None
        for match in pattern.finditer(reply):
            answer = match.group(group)
        return "" if answer is None else answer.strip()

    return extract
