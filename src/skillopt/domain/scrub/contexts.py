"""Secrets known by what stands before them: assignments, flags, headers, URL userinfo, sentences.

Owns where such a value begins and ends; whether it is believable is asked of `values`, what its name means of `names`.
"""

from __future__ import annotations

import base64
import binascii
import functools
import re

import msgspec
import re2

from skillopt.domain.scrub import patterns
from skillopt.domain.scrub.names import Family, family_of
from skillopt.domain.scrub.values import Style, believable, is_placeholder, is_shuffled, is_variable_name

# A value is judged by its beginning, so that a long line costs no more than its length.
_JUDGED = 240
_NAME_REACH = 48
_NAME_LETTERS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.")
_EQUALS = ord("=")
_BRACKETS = {b")": b"(", b"]": b"[", b"}": b"{"}
_STYLES = {
    "flag": Style.SHELL,
    "annotated": Style.BARE,
    "assigned": Style.BARE,
    "said": Style.SAID,
    "spaced": Style.LOOSE,
    "paired": Style.LOOSE,
}


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """One secret in a byte string: where it stands, its kind, and how surely the kind is known (0 is surest)."""

    start: int
    end: int
    kind: str
    value: bytes
    doubt: int


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """Where a value stands, and how it was written; `cut` if it may go on beyond where it was looked for."""

    start: int
    end: int
    style: Style
    cut: bool = False


def after_head(data: bytes, start: int, end: int, number: int) -> tuple[Found | None, int] | None:
    """Return the secret behind the head at `start`, if it is one, and where to go on; None if no head is there."""
    hit = patterns.head(number).match(data, start, end)
    if hit is None:
        return None
    name = patterns.HEADS[number][0]
    again = max(hit.start(2), start + 1)
    family = _family(data, hit, name)
    if family is None:
        return None, again
    style = _STYLES[name]
    if style is Style.BARE and _shell_like(data, hit):
        style = Style.SHELL
    value = _value_after(data, hit, family, style, hit.end(2) + _JUDGED)
    text = data[value.start : value.end][:_JUDGED]
    if (
        b"-----BEGIN " in text
        or _begins_prose(data, value)
        or not believable(text.decode("utf-8", "ignore"), family, value.style)
    ):
        # `authorization: Basic Ym9iOng=", "` only looks like an annotation: the other heads have their say
        return None if name == "annotated" else (None, again)
    if value.cut:
        value = _value_after(data, hit, family, style, len(data))
    return _found(data, value, family), value.end


def _value_after(data: bytes, hit: re2._Match, family: Family, style: Style, limit: int) -> Value:
    value = value_at(data, hit.end(2), hit.group(2), style, limit)
    if b"%3" in data[hit.end(1) : hit.start(2)]:
        sign = _encoded_sign().search(data, value.start, value.end)
        return msgspec.structs.replace(value, end=sign.start()) if sign else value
    return _after_scheme(data, value, limit) if family is Family.HEADER else value


@functools.cache
def _encoded_sign() -> re.Pattern[bytes]:
    """Return the pattern of what ends a value whose assignment is itself percent-encoded."""
    return re.compile(rb"%2[267]|%7[dD]")


def at_place(data: bytes, start: int, end: int, number: int) -> tuple[Found | None, int] | None:
    """Return the secret of the place at `start`, if it is one, and where to go on; None if no place is there."""
    hit = patterns.place(number).match(data, start, end)
    if hit is None:
        return None
    value = Value(start=hit.start(1), end=hit.end(1), style=Style.SHELL)
    text = data[value.start : min(value.end, value.start + _JUDGED)].decode("utf-8", "ignore")
    judge = _PLACE_JUDGES[patterns.PLACES[number][0]]
    if not judge(text, data, start):
        return None, max(value.start, start + 1)
    family = Family.HEADER if patterns.PLACES[number][0] in {"bearer", "basic"} else Family.PASSWORD
    return _found(data, value, family), value.end


def value_at(data: bytes, start: int, opener: bytes, style: Style, limit: int) -> Value:
    """Return the value that begins at `start`, after the quote in `opener` if any; look no further than `limit`."""
    quote = opener.lstrip(b"bBrRuUfF@")
    if quote:
        end = _closing(data, start, quote, limit)
        if end is not None:
            return Value(start=start, end=end, style=Style.QUOTED)
    wide = style is Style.SHELL
    run = (_wide_run() if wide else _bare_run()).match(data, start, limit)
    end = run.end() if run else start
    cut = end == limit < len(data)
    token = data.find(b"[SECRET:", start, end)
    end = end if token < 0 else token
    return Value(start=start, end=_trimmed(data, start, end), style=Style.QUOTED if quote else style, cut=cut)


@functools.cache
def _bare_run() -> re.Pattern[bytes]:
    return re.compile(rb"[^\s\"'`&;<>]+")


@functools.cache
def _wide_run() -> re.Pattern[bytes]:
    return re.compile(rb"[^\s\"'`]+")


@functools.cache
def _scheme() -> re.Pattern[bytes]:
    return re.compile(rb"[A-Za-z][A-Za-z0-9_-]{1,24}(?:[ \t]+|%20)")


def _closing(data: bytes, start: int, quote: bytes, limit: int) -> int | None:
    """Return where the quoted value ends: at the same quote, escaped as often; None if the line or limit ends first."""
    position = start
    while True:
        position = data.find(quote, position, limit)
        if position < 0 or data.find(b"\n", start, position) >= 0:
            return None
        slashes = position
        while slashes > start and data[slashes - 1] == 0x5C:
            slashes -= 1
        if (position - slashes) % 2 == 0:
            return position
        position += len(quote)


def _trimmed(data: bytes, start: int, end: int) -> int:
    """Return the end of an unquoted value without what belongs to the text around it."""
    comma = _next_argument().search(data, start, end)
    if comma:
        end = comma.start()
    while end > start and (data[end - 1] in b",.;:>\\|" or _unopened(data, start, end)):
        end -= 1
    return end


def _unopened(data: bytes, start: int, end: int) -> bool:
    """Say whether the last letter closes a bracket that the value did not open."""
    opener = _BRACKETS.get(data[end - 1 : end])
    return opener is not None and opener not in data[start : min(end, start + _JUDGED)]


@functools.cache
def _next_argument() -> re.Pattern[bytes]:
    return re.compile(rb",[A-Za-z_][A-Za-z0-9_]*=|,[\\\"'{\[]|\\[nrt]|\\u[0-9a-f]{4}|\x1b")


def _family(data: bytes, hit: re2._Match, name: str) -> Family | None:
    word = hit.group(1).decode("ascii")
    begin = hit.start(1)
    name_start = begin
    while name_start > max(0, begin - _NAME_REACH) and data[name_start - 1] in _NAME_LETTERS:
        name_start -= 1
    in_element = name == "assigned" and data[hit.end(1) : hit.end(1) + 1] == b">"
    if in_element and data[name_start - 1 : name_start] != b"<":
        return None
    return family_of(data[name_start:begin].decode("ascii"), word)


def _after_scheme(data: bytes, value: Value, limit: int) -> Value:
    scheme = _scheme().match(data, value.start, value.end + 1 if value.style is Style.QUOTED else limit)
    if not scheme:
        return value
    if value.style is Style.QUOTED and scheme.end() < value.end:
        return msgspec.structs.replace(value, start=scheme.end())
    return value_at(data, scheme.end(), b"", Style.SHELL, limit)


def _shell_like(data: bytes, hit: re2._Match) -> bool:
    """Tell a line of a shell or an environment file from program text: NAME=value, in capitals, without blanks."""
    word = hit.group(1)
    return bool(word.isupper()) and hit.end() == hit.end(1) + 1 and data[hit.end(1)] == _EQUALS


def _begins_prose(data: bytes, value: Value) -> bool:
    """Say whether an unquoted value of letters is the first word of a sentence: `password: must be long`."""
    letters = data[value.start : min(value.end, value.start + _JUDGED)]
    if value.style is not Style.BARE or not letters.isalpha() or is_shuffled(letters.decode("ascii", "ignore")):
        return False
    return data[value.end : value.end + 1] in {b" ", b","} and data[value.end : value.end + 2].lstrip(b" ,").isalpha()


def _found(data: bytes, value: Value, family: Family) -> Found:
    kind = family.value
    return Found(start=value.start, end=value.end, kind=kind, value=data[value.start : value.end], doubt=2)


def _userinfo(text: str, data: bytes, start: int) -> bool:
    """Judge user:PASSWORD@: a port, a reference and the words of an example are none."""
    port, _, _ = text.partition("/")
    if port.isdigit() and "/" in text:
        return False
    hosted = data[start : start + 1] == b":" or not text.startswith("/")
    plain = text.lower() in {"password", "pass", "passwd", "pw", "pwd", "secret", "token", "user", "username", "key"}
    return hosted and not plain and not is_placeholder(text) and not is_variable_name(text)


def _userinfo_alone(text: str, _data: bytes, _start: int) -> bool:
    return any(char.isdigit() for char in text) and not is_placeholder(text)


def _bearer(text: str, _data: bytes, _start: int) -> bool:
    return len(text) >= 12 and believable(text, Family.MACHINE, Style.SHELL)


def _basic(text: str, _data: bytes, _start: int) -> bool:
    """Judge a basic credential by what it says: name:password."""
    try:
        said = base64.b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error:
        return False
    return b":" in said and said.isascii() and said.decode("ascii").isprintable()


def _shell(text: str, data: bytes, start: int) -> bool:
    """Judge -u name:PASSWORD and -pPASSWORD, by the program on the same line."""
    line = data[max(0, data.rfind(b"\n", 0, start), start - 200) : start + 24]
    named = any(program in line for program in (b"curl", b"wget", b"http", b"mysql", b"mariadb", b"sshpass"))
    return named and not text.isdigit() and not is_placeholder(text) and not is_variable_name(text)


_PLACE_JUDGES = {
    "userinfo": _userinfo,
    "userinfo-alone": _userinfo_alone,
    "bearer": _bearer,
    "basic": _basic,
    "shell": _shell,
}
