from __future__ import annotations

import msgspec

from skillopt.domain.texts import with_texts, without


class Inner(msgspec.Struct, frozen=True):
    word: str
    count: float


class Outer(msgspec.Struct, frozen=True):
    word: str | None
    pair: tuple[str, int]
    many: tuple[Inner, ...]
    listed: list[str]
    mapped: dict[str, tuple[str, ...]]


def test_every_text_is_changed_and_nothing_else() -> None:
    value = Outer("a", ("b", 1), (Inner("c", 2.0),), ["d"], {"key": ("e",)})
    assert with_texts(value, str.upper) == Outer("A", ("B", 1), (Inner("C", 2.0),), ["D"], {"key": ("E",)})


def test_nothing_stays_nothing() -> None:
    value = Outer(None, ("", 0), (), [], {})
    assert with_texts(value, str.upper) == value


def test_a_text_without_quotes() -> None:
    assert without("It is Paris, PARIS, not (a+b).", [" paris ", "(a+b)"]) == "It is […], […], not […]."
    assert without("It is 42.", ["42", ""]) == "It is 42."
