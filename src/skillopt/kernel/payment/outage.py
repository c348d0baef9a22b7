"""Tells an outage from failures of single questions: where nobody answers, a phase does not end.
Owns that distinction; refuses to know how often anyone was asked."""

from __future__ import annotations

from collections.abc import Sequence

from skillopt.domain.errors import UnansweredError, UnavailableError
from skillopt.domain.rollouts import Failure
from skillopt.kernel.journal import Ref


def refuse_outage(path: str, outcomes: Sequence[Ref | Failure]) -> None:
    """A phase in which nobody answered is an outage: it stays open, so that running again tries it again.

    So does one in which somebody will answer yet: a single question that waits keeps it open.
    """
    waiting = [each for each in outcomes if isinstance(each, Failure) and each.kind == UnansweredError.__name__]
    if waiting:
        raise UnansweredError(
            f"{len(waiting)} of the {len(outcomes)} questions of {path} wait for their answers.",
            hint=waiting[-1].message,
        )
    failures = [outcome for outcome in outcomes if isinstance(outcome, Failure) and outcome.passing]
    if failures and len(failures) == len(outcomes):
        raise UnavailableError(
            f"None of the {len(failures)} requests of {path} was answered; the last: {failures[-1].message}",
            hint="When the model answers again, run the same command: it goes on from here.",
        )
