"""Scrubbing of text that comes in chunks.

Owns what must be held back: the last, unfinished line, and a key block whose end has not come. Refuses to know rules.
"""

from __future__ import annotations

from collections.abc import Callable

from skillopt.domain.scrub.blocks import open_block


class ScrubStream:
    """Feeds whole lines to a scrubber; what it gives, joined, is the scrubbed whole."""

    __slots__ = ("_held", "_scrub")

    def __init__(self, scrub: Callable[[str], str]) -> None:
        self._scrub = scrub
        self._held: list[str] = []

    def feed(self, chunk: str) -> str:
        """Take a chunk and return what is certain by now; often nothing."""
        self._held.append(chunk)
        if "\n" not in chunk:
            return ""
        text = "".join(self._held)
        cut = _certain(text)
        self._held = [text[cut:]]
        return self._scrub(text[:cut]) if cut else ""

    def finish(self) -> str:
        """Return the rest; the stream is empty afterwards."""
        rest = "".join(self._held)
        self._held = []
        return self._scrub(rest) if rest else ""


def _certain(text: str) -> int:
    """Return how much of the text can be scrubbed before the rest has come: whole lines, up to an open key block."""
    if "PRIVATE KEY" not in text:
        return text.rfind("\n") + 1
    data = text.encode("utf-8", "surrogatepass")
    cut = data.rfind(b"\n") + 1
    while (begin := open_block(data, cut)) is not None:
        cut = data.rfind(b"\n", 0, begin) + 1
    return len(data[:cut].decode("utf-8", "surrogatepass"))
