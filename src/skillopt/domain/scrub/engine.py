"""Scrubbing: every secret of a text replaced by a token that names its kind and is the same wherever the value stands.

Owns the form of the token and what a text, a value and a stream have in common; knows neither formats nor contexts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping

from skillopt.domain.scrub import encodings, patterns, search
from skillopt.domain.scrub.contexts import Found
from skillopt.domain.scrub.names import Family, family_of, names_a_secret
from skillopt.domain.scrub.stream import ScrubStream
from skillopt.domain.scrub.values import Style, believable, looks_like_path

_MINIMUM_VALUE = 8
_MARK = b"[SECRET:"


class Scrubber:
    """Replaces secrets in text: all providers' formats, what its context gives away, and the values it is told."""

    __slots__ = ("_encoded", "_gate", "_needles", "_plain")

    def __init__(self, needles: Iterable[str] = ()) -> None:
        usable = encodings.usable_needles(needles)
        self._encoded = {spelling: needle for needle in usable for spelling in encodings.encoded_spellings(needle)}
        self._plain = {spelling: needle for needle in usable for spelling in encodings.plain_spellings(needle)}
        every = {*self._plain, *self._encoded}
        self._needles = patterns.literals(every) if every else None
        self._gate = patterns.gate_with(every) if every else patterns.compiled().gate

    def text(self, text: str) -> str:
        """Return the text with every secret replaced; scrubbing it again changes nothing."""
        data = text.encode("utf-8", "surrogatepass")
        if self._gate.search(data) is None:
            return text
        return b"".join(self._pieces(data)).decode("utf-8", "surrogatepass")

    def value(self, obj: object) -> object:
        """Return a JSON-like value with its strings scrubbed; a key that says secret makes its string a secret."""
        if isinstance(obj, str):
            return self.text(obj)
        if isinstance(obj, Mapping):
            return {self.value(key): self._member(key, item) for key, item in obj.items()}
        if isinstance(obj, tuple):
            return tuple(self.value(item) for item in obj)
        if isinstance(obj, list):
            return [self.value(item) for item in obj]
        return obj

    def stream(self) -> ScrubStream:
        """Return a scrubber of text that comes in chunks; the chunking never shows in the result."""
        return ScrubStream(self.text)

    def _member(self, key: object, item: object) -> object:
        if not isinstance(key, str) or not isinstance(item, str):
            return self.value(item)
        family = _family_of_key(key)
        scrubbed = self.text(item)
        if (
            family is None
            or (family is Family.HEADER and scrubbed != item)
            or not believable(item, family, Style.QUOTED)
        ):
            return scrubbed
        value = item.encode("utf-8", "surrogatepass")
        found = Found(start=0, end=len(value), kind=family.value, value=value, doubt=2)
        return token_for(search.named_by_provider(found)).decode("ascii")

    def _pieces(self, data: bytes) -> Iterator[bytes]:
        """Yield the parts of the scrubbed text.

        What lies between two tokens is searched by itself until nothing is found, just as scrubbing the result would
        do: so the result is final.
        """
        waiting = [(data, False)]
        while waiting:
            piece, final = waiting.pop()
            parts = () if final else self._parts(piece)
            if parts:
                waiting.extend(reversed(parts))
            else:
                yield piece

    def _parts(self, data: bytes) -> tuple[tuple[bytes, bool], ...]:
        """Return the piece cut at its tokens, old or new, each part with whether it is one; nothing if none."""
        if _MARK in data:
            cuts = patterns.token().split(data)
            if len(cuts) > 1:
                return tuple((cut, number % 2 == 1) for number, cut in enumerate(cuts))
        parts: list[tuple[bytes, bool]] = []
        position = 0
        for found in search.merged([*search.findings(data), *self._known_values(data)]):
            parts += [(data[position : found.start], False), (token_for(found), True)]
            position = found.end
        return (*parts, (data[position:], False)) if parts else ()

    def _known_values(self, data: bytes) -> Iterator[Found]:
        """Yield where a value of the user stands, in any spelling; a base64 spelling hides the run it stands in."""
        if self._needles is None:
            return
        for hit in self._needles.finditer(data):
            spelling, (start, end) = hit.group(), hit.span()
            needle = self._plain.get(spelling)
            if needle is None:
                needle = self._encoded[spelling]
                start, end = encodings.run_around(data, start, end)
            value = needle.encode("utf-8", "surrogatepass")
            yield Found(start=start, end=end, kind="environment", value=value, doubt=1)


def token_for(found: Found) -> bytes:
    """Return what stands in place of a secret: its kind, and four digits that are the same for the same value."""
    digest = hashlib.blake2b(found.value, digest_size=2).hexdigest()
    return f"[SECRET:{found.kind}:{digest}]".encode("ascii")


def needles_from(variables: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values that an environment keeps under names that say secret, the longest first."""
    values = {value.strip() for name, value in variables.items() if names_a_secret(name)}
    kept = (value for value in values if len(value) >= _MINIMUM_VALUE and not looks_like_path(value))
    return tuple(sorted(kept, key=lambda value: (-len(value), value)))


def _family_of_key(key: str) -> Family | None:
    hit = patterns.name_end().search(key.encode("utf-8", "replace"))
    if hit is None:
        return None
    word: str = hit.group(1).decode("ascii")
    return family_of(key[: -len(word)], word)
