"""Turns whatever escapes a seam into an error of that seam, so that a plugin's slip is attributed and not our crash.
A named boundary: one of the few places where any exception is caught. Our own errors pass unchanged."""

from __future__ import annotations

from types import TracebackType

from skillopt.domain.errors import SkilloptError


class Attributed:
    """A context in which a foreign exception becomes an error of this kind, about this thing."""

    __slots__ = ("_hint", "_kind", "_what")

    def __init__(
        self, kind: type[SkilloptError], what: str, hint: str = "This is a fault in that code; its author can mend it."
    ) -> None:
        self._kind = kind
        self._what = what
        self._hint = hint

    def __enter__(self) -> None:
        """Nothing happens on the way in."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Attribute what comes out."""
        if isinstance(error, Exception) and not isinstance(error, SkilloptError):
            raise self._kind(
                f"{self._what} broke with {type(error).__name__}: {error}.",
                hint=self._hint,
            ) from error
