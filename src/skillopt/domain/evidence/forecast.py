"""How many val tasks it would take to see a lift of a given size, going by the known trials of a skill.
Owns the simulation behind that number; refuses to know which change brings the lift."""

from __future__ import annotations

from collections.abc import Sequence

from skillopt.domain.evidence.paired import paired
from skillopt.domain.evidence.terms import Terms
from skillopt.domain.seeds import Dice, dice

SIZES = (10, 20, 40, 80, 160, 320)
_GATES = 60
_POWER = 0.8


def tasks_for(lift: float, known: Sequence[int], terms: Terms) -> int | None:
    """Return the smallest of SIZES at which four of five such lifts are accepted; None if all are too small.

    Tasks are drawn from those whose known trials are given, and mended one after another until val is better by `lift`.
    """
    return next((size for size in SIZES if _power(lift, known, terms, size) >= _POWER), None)


def _power(lift: float, known: Sequence[int], terms: Terms, size: int) -> float:
    accepted = 0
    for number in range(_GATES):
        draw = dice("forecast", size, number)
        before = [draw.choice(known) / terms.trials for _ in range(size)]
        accepted += _accepts(before, _mended(before, lift, draw), terms, draw)
    return accepted / _GATES


def _mended(before: Sequence[float], lift: float, draw: Dice) -> list[float]:
    after, missing = list(before), lift * len(before)
    for place in draw.sample(range(len(before)), len(before)):
        if missing <= 0:
            break
        missing -= 1.0 - after[place]
        after[place] = 1.0
    return after


def _accepts(before: Sequence[float], after: Sequence[float], terms: Terms, draw: Dice) -> bool:
    known = [sum(draw.random() < chance for _ in range(terms.trials)) for chance in before]
    own = Terms(order=tuple(range(len(before))), trials=terms.trials, alpha=terms.alpha, wave=terms.wave)
    course = paired(own, known)
    try:
        wave = next(course)
        while True:
            wave = course.send(tuple(float(draw.random() < after[place]) for place in wave.places))
    except StopIteration as end:
        return bool(end.value.kind == "accept")
