"""Secrets in other clothes: base64 and percent-encoding, one level deep.

Owns the spellings of a known value and the decoding of a run; refuses to know what a secret looks like.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus, unquote_to_bytes

MINIMUM_NEEDLE = 4
_MINIMUM_LINE = 8
_PERCENT_RUN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789%._~+-")
_RUN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")


def base64_cores(value: bytes) -> tuple[bytes, ...]:
    """Return what `value` looks like inside base64 text at each of the three alignments, edges left out."""
    cores = []
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + value)
        first = (0, 2, 3)[shift]
        cores.append(encoded[first : (shift + len(value)) * 8 // 6])
    return tuple(cores)


def encoded_spellings(needle: str) -> Iterator[bytes]:
    """Yield what a known value looks like inside base64."""
    for core in base64_cores(needle.encode("utf-8", "surrogatepass")):
        yield core
        yield core.replace(b"+", b"-").replace(b"/", b"_")


def plain_spellings(needle: str) -> Iterator[bytes]:
    """Yield a known value as it is, as JSON writes it and percent-encoded; by lines, for no search crosses one."""
    whole = needle.strip()
    lines = [line.strip() for line in whole.splitlines()]
    texts = [whole] if len(lines) == 1 else [line for line in lines if len(line) >= _MINIMUM_LINE]
    texts += [json.dumps(whole)[1:-1], json.dumps(whole, ensure_ascii=False)[1:-1]]
    for text in texts:
        yield text.encode("utf-8", "surrogatepass")
    for encoded in (
        quote(whole, safe="", errors="surrogatepass"),
        quote_plus(whole, errors="surrogatepass"),
        quote(whole, safe="/:", errors="surrogatepass"),
    ):
        yield encoded.encode()
        yield _lower_escapes(encoded).encode()


def _lower_escapes(encoded: str) -> str:
    first, *rest = encoded.split("%")
    return "%".join([first, *(piece[:2].lower() + piece[2:] for piece in rest)])


def usable_needles(needles: Iterable[str]) -> tuple[str, ...]:
    """Return the needles long enough to be searched for, each once, the longest first."""
    kept = {needle.strip() for needle in needles}
    return tuple(
        sorted((needle for needle in kept if len(needle) >= MINIMUM_NEEDLE), key=lambda item: (-len(item), item))
    )


def run_around(data: bytes, start: int, end: int) -> tuple[int, int]:
    """Return the bounds of the base64 run that holds data[start:end], padding included."""
    start, end = _around(data, start, end, _RUN)
    for _ in range(2):
        if data[end : end + 1] == b"=":
            end += 1
    return start, end


def percent_run_around(data: bytes, start: int, end: int) -> tuple[int, int]:
    """Return the bounds of the percent-encoded run that holds data[start:end]."""
    return _around(data, start, end, _PERCENT_RUN)


def _around(data: bytes, start: int, end: int, letters: frozenset[int]) -> tuple[int, int]:
    while start > 0 and data[start - 1] in letters:
        start -= 1
    while end < len(data) and data[end] in letters:
        end += 1
    return start, end


def decoded_runs(run: bytes) -> Iterator[bytes]:
    """Yield what a base64 run says, from each of its first four letters on; a path or a name may be glued before it."""
    letters = run.rstrip(b"=").replace(b"-", b"+").replace(b"_", b"/")
    for skipped in range(4):
        body = letters[skipped:]
        body = body[: len(body) - (len(body) % 4 == 1)]
        try:
            yield base64.b64decode(body + b"=" * (-len(body) % 4))
        except binascii.Error:
            continue


def percent_decoded(run: bytes) -> bytes:
    """Return what a percent-encoded run says."""
    return unquote_to_bytes(run)
