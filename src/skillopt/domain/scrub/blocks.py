"""Private-key blocks: whole, over many lines, inside JSON strings, or cut off before their end.

Owns where a block ends; refuses to look further than `REACH` for it, so that a stream needs to hold back no more.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import re2

from skillopt.domain.scrub.contexts import Found
from skillopt.domain.scrub.patterns import KEY_BLOCK_BEGIN, compiled_bytes

REACH = 32_768
_LONGEST_END = 80
_DASHES = b"-----"


@functools.cache
def _begin() -> re2._Regexp:
    return compiled_bytes(KEY_BLOCK_BEGIN)


@functools.cache
def _end() -> re2._Regexp:
    return compiled_bytes(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")


@functools.cache
def _key_material() -> re2._Regexp:
    return compiled_bytes(r"[A-Za-z0-9+/=]{16}")


@functools.cache
def _cut_off() -> re2._Regexp:
    """Return the pattern of a body without an end: lines of base64 behind line breaks, quotes and marks of a diff."""
    header = r"(?:Proc-Type|DEK-Info|Version|Comment|Hash): [^\n\\]*"
    between = r"(?:\s|\\+[nrt]|[\"'+,>|#*-])*"
    last = r"(?:(?:\s|\\+[nrt])+[A-Za-z0-9+/=]+)?"
    return compiled_bytes(rf"(?:{between}(?:{header}|[A-Za-z0-9+/=]{{16,}}))+{last}")


def key_blocks(data: bytes) -> Iterator[Found]:
    """Yield the private-key blocks of a text, first to last."""
    position = 0
    while begin := _begin().search(data, position):
        position = _block_end(data, begin.end())
        if position > begin.end():
            yield Found(
                start=begin.start(), end=position, kind="private-key", value=data[begin.start() : position], doubt=0
            )


def open_block(data: bytes, cut: int) -> int | None:
    """Return where a block before `cut` begins that reaches beyond it, or may once more text has come; None if none."""
    position = 0
    while (begin := _begin().search(data, position)) and begin.start() < cut:
        dashes = data.find(_DASHES, begin.end(), begin.end() + REACH)
        known = dashes >= 0 and (dashes + _LONGEST_END <= len(data) or data.find(b"\n", dashes) >= 0)
        position = _block_end(data, begin.end())
        if position > cut or not (known or len(data) >= begin.end() + REACH + _LONGEST_END):
            return int(begin.start())
    return None


def _block_end(data: bytes, start: int) -> int:
    """Return the end of the block whose first line ends at `start`; `start` itself if no key follows."""
    dashes = data.find(_DASHES, start, start + REACH)
    if dashes >= 0:
        end = _end().match(data, dashes)
        body = data[start:dashes]
        if end and b"[SECRET:" not in body and _key_material().search(body):
            return int(end.end())
    limit = dashes if dashes >= 0 else min(len(data), start + REACH)
    body = _cut_off().match(data, start, limit)
    return int(body.end()) if body else start
