"""The front matter of a skill document: where it is, and a tiny reader for its simple top-level fields.

Owns: its exact characters, which nothing here ever rewrites. It reads `key: value`, quoted, folded and literal
values, no more of YAML. Knows nothing of what the fields should hold; `standard` does.
"""

from __future__ import annotations

import re

import msgspec

from skillopt.domain.skill.markdown.lines import BOM, Line, lines
from skillopt.domain.skill.markdown.markers import has_marker

_KEY = re.compile(r"([A-Za-z0-9_.-]+|\"[^\"]+\"|'[^']+')[ \t]*:(?:[ \t]+(.*))?")
_BLOCK = re.compile(r"([>|])[-+0-9]{0,2}[ \t]*(?:#.*)?")
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)"')
_SINGLE = re.compile(r"'((?:[^']|'')*)'")
_COMMENT = re.compile(r"(?:^|[ \t])#.*")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(.))")


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """One top-level field: its value as read, its place in the front matter, and whether YAML wants it quoted."""

    key: str
    value: str
    start: int
    end: int
    needs_quotes: bool = False


def front_matter(text: str) -> str:
    """Return the front matter exactly (a BOM, both fences and their line endings included), or ''.

    A region marker before the closing fence means that the opening line was a mere rule across the page.
    """
    found = lines(text)
    if not found or found[0].text.removeprefix(BOM).rstrip(" \t") != "---":
        return ""
    for line in found[1:]:
        if line.text.rstrip(" \t") == "---":
            return text[: line.after]
        if has_marker(line.text):
            return ""
    return ""


def head(text: str) -> str:
    """Return what stands before the body and is never edited: the front matter, or a lone BOM, or ''."""
    return front_matter(text) or (BOM if text.startswith(BOM) else "")


def fields(matter: str) -> tuple[Field, ...]:
    """Return the top-level fields of a front matter, in order."""
    found: list[Field] = []
    inner = lines(matter)[1:-1]
    index = 0
    while index < len(inner):
        key = _KEY.fullmatch(inner[index].text.rstrip(" \t"))
        stop = index + 1
        while key is not None and stop < len(inner) and _continues(inner[stop]):
            stop += 1
        if key is not None:
            found.append(_field(key, inner[index:stop]))
        index = stop
    return tuple(found)


def field(matter: str, key: str) -> Field | None:
    """Return the first top-level field of that name, or None."""
    return next((found for found in fields(matter) if found.key == key), None)


def without_field(matter: str, key: str) -> str:
    """Return the front matter with the lines of one field cut out."""
    found = field(matter, key)
    return matter if found is None else matter[: found.start] + matter[found.end :]


def _continues(line: Line) -> bool:
    return not line.text.strip() or line.text[0] in " \t"


def _field(key: re.Match[str], taken: tuple[Line, ...]) -> Field:
    while len(taken) > 1 and not taken[-1].text.strip():
        taken = taken[:-1]
    value, needs_quotes = _value((key[2] or "").strip(), [line.text for line in taken[1:]])
    return Field(
        key=key[1].strip("\"'"), value=value, start=taken[0].start, end=taken[-1].after, needs_quotes=needs_quotes
    )


def _value(first: str, rest: list[str]) -> tuple[str, bool]:
    block = _BLOCK.fullmatch(first)
    if block is not None:
        return _block_value(rest, folded=block[1] == ">"), False
    joined = " ".join([first, *(line.strip() for line in rest if line.strip())]).strip()
    double, single = _DOUBLE.match(joined), _SINGLE.match(joined)
    if double is not None:
        return _ESCAPE.sub(_unescaped, double[1]), False
    if single is not None:
        return single[1].replace("''", "'"), False
    plain = " ".join(_COMMENT.sub("", line).strip() for line in [first, *rest] if line.strip()).strip()
    return plain, ": " in plain or plain.endswith(":") or plain.startswith(tuple("\"'[]{}&*!%@`|>,"))


def _block_value(rest: list[str], *, folded: bool) -> str:
    indent = min((len(line) - len(line.lstrip(" \t")) for line in rest if line.strip()), default=0)
    body = "\n".join(line[indent:].rstrip() for line in rest).strip("\n")
    if folded:
        return "\n".join(" ".join(part.split("\n")) for part in re.split(r"\n\n", body))
    return body


def _unescaped(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2]
    if code:
        return chr(int(code, 16))
    return {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}.get(escape[3], escape[3])
