"""The contract of the Journal port as a test suite: subclass it, say how to open a journal, and let pytest run it.
Owns what every journal promises; knows no journal. What a kill or a loss of power does is not shown here."""

from __future__ import annotations

from skillopt.testing.journals.records import RecordPromises
from skillopt.testing.journals.runs import RunPromises
from skillopt.testing.journals.stage import broken_promises

__all__ = ["JournalContract", "broken_promises"]


class JournalContract(RunPromises, RecordPromises):
    """What every Journal must do. Override `make(tmp_path)`: return a function that opens a journal over one disk."""
