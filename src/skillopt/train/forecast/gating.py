"""What a gate costs and whether it accepts, found out by holding it on imagined answers that do not vary.
Owns which answers are imagined; refuses to know what becomes of a run: the procedures are those of the gate itself."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import msgspec

from skillopt.domain.evidence.course import Answers, Course, Wave
from skillopt.domain.evidence.paired import paired
from skillopt.domain.evidence.reach import within_reach
from skillopt.domain.evidence.signs import signs
from skillopt.domain.evidence.terms import Terms
from skillopt.domain.evidence.values import values
from skillopt.domain.scores import MetricName
from skillopt.phases.gate import GateSettings
from skillopt.train.forecast.calls import Calls, Setup, bar_calls, plus, put, times

_LOOKS = 4


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What a change does to val: the shares of tasks that fail before, that still do, and that it spoils."""

    failing: float
    still: float
    spoilt: float = 0.0


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an imagined gate, and what it asked, one phase after the other."""

    accepted: bool
    phases: tuple[Calls, ...]

    @property
    def calls(self) -> Calls:
        """All that it asked."""
        return plus(*self.phases)


def hold(setup: Setup, alpha: float, change: Change) -> Held:
    """Hold a gate on a change."""
    val, settings = setup.plan.val, setup.gate
    size = len(val)
    wrong = round(change.failing * size)
    still = min(wrong, round(change.still * size))
    spoilt = min(size - wrong, round(change.spoilt * size))
    found = _held(settings, alpha, size, (wrong, still, spoilt))
    if found is None:
        better = still + spoilt < wrong
        return Held(accepted=settings.rule == "force" or better, phases=(bar_calls(setup),))
    accepted, waves = found
    asked = tuple(times(trials / max(1, size), put(setup, val)) for trials in waves)
    if not accepted:
        return Held(accepted=False, phases=asked)
    # where answers do not vary, a skill is put to each task once: the rest follows when it is needed
    return Held(accepted=True, phases=(bar_calls(setup),) if settings.deterministic else (*asked, bar_calls(setup)))


def most_calls(setup: Setup) -> Calls:
    """Return what a gate costs at most, with the bar of what it accepts."""
    settings, once = setup.gate, put(setup, setup.plan.val)
    if settings.rule != "paired":
        return once
    return times(2 if settings.deterministic else _LOOKS + settings.trials, once)


@cache
def _held(
    settings: GateSettings, alpha: float, size: int, counts: tuple[int, int, int]
) -> tuple[bool, tuple[int, ...]] | None:
    """Return whether a change is accepted, and the trials of each wave; None where a published rule decides."""
    before, kept, harmed = counts
    wrong = _spread(range(size), before)
    right = [place for place in range(size) if place not in wrong]
    course = _course(settings, alpha, size, frozenset(wrong))
    if course is None:
        return None
    return _followed(course, frozenset(wrong), frozenset((*_spread(wrong, kept), *_spread(right, harmed))))


def _course(settings: GateSettings, alpha: float, tasks: int, wrong: frozenset[int]) -> Course | None:
    """Return the procedure that decides; None where the published rules do."""
    if settings.rule != "paired":
        return None
    terms = Terms(order=tuple(range(tasks)), trials=settings.trials, alpha=alpha, wave=settings.wave)
    known = [0 if place in wrong else settings.trials for place in range(tasks)]
    by_marks = settings.compared.name is not MetricName.HARD
    if settings.deterministic:
        return signs(terms)
    if wrong and not within_reach(len(wrong), settings.trials, alpha):
        if settings.small_val == "strict":
            return None
        by_marks = by_marks or settings.small_val == "soft"
    if by_marks:
        return values(terms, [(float(right > 0),) * settings.trials for right in known])
    return paired(terms, known)


def _followed(course: Course, wrong: frozenset[int], still: frozenset[int]) -> tuple[bool, tuple[int, ...]]:
    """Answer each wave; return whether the change was accepted, and how many trials of the candidate each took."""
    waves: list[int] = []
    try:
        wave = next(course)
        while True:
            if wave.side == "candidate":
                waves.append(len(wave.places))
            wave = course.send(_answers(wave, still if wave.side == "candidate" else wrong))
    except StopIteration as end:
        return end.value.kind == "accept", tuple(waves)


def _answers(wave: Wave, wrong: frozenset[int]) -> Answers:
    return tuple(float(place not in wrong) for place in wave.places)


def _spread(places: Sequence[int], count: int) -> tuple[int, ...]:
    """Return so many of the places, as far apart as they can be."""
    return tuple(places[number * len(places) // count] for number in range(count))
