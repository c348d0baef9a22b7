"""Hands each fact to everyone who watches; one that breaks is reported once and dropped.
A named boundary: the only place besides the command line where any exception of a plugin is caught."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from skillopt.kernel.events import Event, Signal
from skillopt.kernel.ports import Observer

_log = logging.getLogger(__name__)


class Observers:
    """Everyone who watches a run."""

    def __init__(self, watching: Sequence[Observer] = ()) -> None:
        self._watching = list(watching)

    def see(self, fact: Event | Signal) -> None:
        """Show a fact to all; an observer that raises sees no more."""
        for observer in tuple(self._watching):
            try:
                observer.see(fact)
            except Exception as error:  # noqa: BLE001 - a plugin may raise anything, and must not stop the run
                self._watching.remove(observer)
                _log.warning(
                    "Observer %s failed (%s: %s) and is no longer shown this run.",
                    type(observer).__name__,
                    type(error).__name__,
                    error,
                )
