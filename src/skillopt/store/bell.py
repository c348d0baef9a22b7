"""Tells the writer's thread when to write, and wakes it no more often than need be: a turn costs more than a row.
Owns the counting and the waiting; refuses to know what is written."""

from __future__ import annotations

import queue

# what nobody waits for is written together, if it comes so soon: a kill can lose no more than all but one of so many
_LINGER_SECONDS = 0.04
_LINGER_RECORDS = 4


class Bell:
    """Between those who put things and the one thread that takes them; who puts something says so afterwards."""

    def __init__(self, group_limit: int) -> None:
        self._enough = min(_LINGER_RECORDS, group_limit)
        self._turns: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._put = 0
        self._taken = 0
        self._urgent = False
        self._asleep = False

    def count(self) -> None:
        """Somebody put a record that should be written soon."""
        self._put += 1
        if self._put - self._taken >= self._enough:
            self.ring()
        elif self._asleep:
            self._asleep = False
            self._turns.put(None)

    def ring(self) -> None:
        """Somebody put what must be written now."""
        if not self._urgent:
            self._urgent = True
            self._turns.put(None)

    def take(self) -> None:
        """Say that one of the counted records was taken."""
        self._taken += 1

    def due(self, seconds: float | None) -> bool:
        """Wait until something should be written; False means that nothing came for so long."""
        if not self._lingered() and self._put == self._taken:
            self._asleep = True
            # whoever put something before that did not see a sleeper
            woken = self._urgent or self._put != self._taken or self._turned(seconds)
            self._asleep = False
            if not woken:
                return False
            self._lingered()
        self._urgent = False
        return True

    def _lingered(self) -> bool:
        """Wait a little while for more, and say whether it became urgent."""
        while not self._urgent and self._turned(_LINGER_SECONDS):
            pass
        return self._urgent

    def _turned(self, seconds: float | None) -> bool:
        try:
            self._turns.get(timeout=seconds)
        except queue.Empty:
            return False
        return True
