from __future__ import annotations

import logging

import pytest

from skillopt.kernel.events import Event, Signal, Warned
from skillopt.kernel.observers import Observers
from tests.unit.kernel.bench import Notebook

FACTS = [Warned(message="one"), Warned(message="two")]


class Broken:
    """An observer that cannot take it."""

    def __init__(self) -> None:
        self.shown = 0

    def see(self, fact: Event | Signal) -> None:
        """Break."""
        self.shown += 1
        raise KeyError("no such window")


def test_a_broken_observer_is_reported_once_and_dropped(caplog: pytest.LogCaptureFixture) -> None:
    first, broken, last = Notebook(), Broken(), Notebook()
    observers = Observers([first, broken, last])
    with caplog.at_level(logging.WARNING):
        for fact in FACTS:
            observers.see(fact)
    assert first.facts == last.facts == FACTS
    assert broken.shown == 1
    assert [record.getMessage() for record in caplog.records] == [
        "Observer Broken failed (KeyError: 'no such window') and is no longer shown this run."
    ]
