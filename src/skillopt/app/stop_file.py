"""A file called `stop` in the folder of a run: whoever puts it there ends the run after the step at hand.
Owns when the file is looked for; refuses to be an event of the run: once the file is gone, the same command goes on."""

from __future__ import annotations

from pathlib import Path

from skillopt.domain.errors import StoppedRunError
from skillopt.kernel.events import Event, Measured, Signal, StepEnded
from skillopt.kernel.run import Run

NAME = "stop"


class StopFile:
    """Looks for the file at the start and between steps, and has the run ask for nothing new once it is there.

    What the journal has is told again all the same, so a run that is started beside its stop file ends where it ended.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._run: Run | None = None

    def stops(self, run: Run) -> None:
        """Stop this run from now on when the file is there."""
        self._run = run
        self._look()

    def see(self, fact: Event | Signal) -> None:
        """Look for the file where a person would expect a pause: after the baseline, and after each step."""
        if isinstance(fact, StepEnded) or (isinstance(fact, Measured) and fact.label == "baseline"):
            self._look()

    def _look(self) -> None:
        if self._run is not None and self._path.exists():
            self._run.stop(StoppedRunError(f"The file {self._path} ended the run."))
