from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from skillopt.store.bell import Bell

LONG = 30.0


def told(bell: Bell) -> Callable[[], bool | None]:
    """Have a thread wait for the bell; return what gives its word, or None if it waits for ever."""
    words: list[bool] = []
    thread = threading.Thread(target=lambda: words.append(bell.due(None)), daemon=True)
    thread.start()

    def join() -> bool | None:
        thread.join(LONG)
        return words[0] if words else None

    return join


@pytest.mark.parametrize("first", [True, False])
def test_who_rings_wakes_whoever_waits_before_or_after(first: bool) -> None:
    bell = Bell(100)
    if first:
        bell.ring()
    waiting = told(bell)
    bell.ring()
    assert waiting() is True


def test_one_record_is_enough_to_wake_a_sleeper_and_four_make_it_urgent() -> None:
    for count in (1, 3, 4, 9):
        bell = Bell(100)
        waiting = told(bell)
        for _ in range(count):
            bell.count()
        assert waiting() is True


def test_when_nothing_comes_it_says_so_and_hears_what_comes_later() -> None:
    bell = Bell(100)
    assert bell.due(0.01) is False
    bell.count()
    assert bell.due(0.01) is True
    bell.take()
    assert bell.due(0.01) is False
    bell.ring()
    assert bell.due(0.01) is True
    assert bell.due(0.01) is False


def test_what_was_not_taken_stays_due() -> None:
    bell = Bell(100)
    for _ in range(2):
        bell.count()
    assert bell.due(LONG) is True
    bell.take()
    assert bell.due(LONG) is True
    bell.take()
    assert bell.due(0.01) is False
