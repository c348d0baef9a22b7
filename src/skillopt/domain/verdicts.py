"""What a gate decides: accept, reject, or not enough is known.
Owns the verdicts and the published strict and forced rules; refuses to know how scores are measured."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from skillopt.domain.scores import Metric, Scoreboard


class _Weighed(msgspec.Struct, frozen=True, kw_only=True, tag_field="verdict"):
    """What was compared: values in the gate's metric, None where unmeasured, over n tasks, for so many calls."""

    reason: str
    candidate: float | None = None
    incumbent: float | None = None
    best: float | None = None
    n: int = 0
    calls: int = 0


class Accept(_Weighed, frozen=True, kw_only=True, tag="accept"):
    """The candidate becomes the incumbent and, if `new_best`, the best skill so far."""

    new_best: bool = False


class Reject(_Weighed, frozen=True, kw_only=True, tag="reject"):
    """The incumbent stays."""


class Inconclusive(_Weighed, frozen=True, kw_only=True, tag="inconclusive"):
    """Too little was measured to say; the incumbent stays and nothing is learned about the candidate."""


Verdict = Accept | Reject | Inconclusive


def confirmed(accept: Accept, *, new: int, old: int, neither: int) -> Verdict:
    """Return the verdict on a change that scored better, once its answers were compared side by side with the old ones.

    It stays accepted when the new ones are preferred on more tasks, or no side is on any: then the scores decide.
    """
    told = f"side by side the new answers are preferred on {new} tasks, the old on {old}, neither on {neither}"
    if old and new <= old:
        return Reject(
            reason=f"{accept.reason}, but {told}",
            candidate=accept.candidate,
            incumbent=accept.incumbent,
            best=accept.best,
            n=accept.n,
            calls=accept.calls,
        )
    return msgspec.structs.replace(accept, reason=f"{accept.reason}; {told}")


def strict(candidate: Scoreboard, current: Scoreboard, best: Scoreboard, metric: Metric, *, calls: int = 0) -> Verdict:
    """Decide as published: strictly better than the incumbent is accepted, strictly better than the best is best.

    Each comparison is over the tasks measured on both sides; without a failure those are all tasks.
    """
    ours, record = _compare(candidate, current, metric), _compare(candidate, best, metric)
    if ours is None or record is None:
        return Inconclusive(
            reason=_unmeasured(candidate, current, best),
            candidate=candidate.value(metric),
            incumbent=current.value(metric),
            best=best.value(metric),
            calls=calls,
        )
    kind = Accept if ours.candidate > ours.other else Reject
    weighed = kind(
        reason=f"{ours.candidate:.4g} {'beats' if kind is Accept else 'does not beat'} {ours.other:.4g}",
        candidate=ours.candidate,
        incumbent=ours.other,
        best=record.other,
        n=ours.n,
        calls=calls,
    )
    if isinstance(weighed, Accept) and record.candidate > record.other:
        return msgspec.structs.replace(weighed, new_best=True)
    return weighed


def force(candidate: Scoreboard, current: Scoreboard, best: Scoreboard, metric: Metric, *, calls: int = 0) -> Accept:
    """Accept whatever was measured; the best skill changes only for a strictly better measured score."""
    record = _compare(candidate, best, metric)
    return Accept(
        reason="accepted without a test, as configured",
        candidate=candidate.value(metric),
        incumbent=current.value(metric),
        best=best.value(metric),
        n=len(candidate.measured_tasks),
        calls=calls,
        new_best=record is not None and record.candidate > record.other,
    )


class _Compared(NamedTuple):
    """Two values over the same n tasks."""

    candidate: float
    other: float
    n: int


def _compare(candidate: Scoreboard, other: Scoreboard, metric: Metric) -> _Compared | None:
    """Return both values over the tasks measured on both sides; None when there are none."""
    shared = candidate.measured_tasks & other.measured_tasks
    ours, theirs = candidate.only(shared).value(metric), other.only(shared).value(metric)
    return None if ours is None or theirs is None else _Compared(ours, theirs, len(shared))


def _unmeasured(candidate: Scoreboard, current: Scoreboard, best: Scoreboard) -> str:
    sides = (("candidate", candidate), ("incumbent", current), ("best skill", best))
    for name, board in sides:
        if not board.scores:
            cause = "no task was tried" if board.cause is None else board.cause
            return f"nothing was measured for the {name}: {cause}"
    return "no task was measured on both sides"
