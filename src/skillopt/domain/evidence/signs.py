"""The gate for answers that do not vary: one trial each, wins and losses, in an order that was drawn before.
Owns the boundary of an early accept; refuses to know who answers."""

from __future__ import annotations

from functools import cache

from skillopt.domain.evidence.course import Course, Finding, Kind, Wave
from skillopt.domain.evidence.effect import effect_of
from skillopt.domain.evidence.terms import Terms

_SAME = 1e-9
_MOST_LOSSES = 12


def signs(terms: Terms) -> Course:
    """Compare wave by wave; a clear win is accepted early, and on all of val a win without a loss is enough.

    The answers being what they are, chance is in the order of the tasks alone: if no more tasks were won than lost,
    the next that differs is a win at most every other time. `boundary` spends alpha exactly over all ways there.
    """
    differences: list[tuple[int, float]] = []
    for start in range(0, len(terms.order), terms.wave):
        places = terms.order[start : start + terms.wave]
        before = yield Wave(places=places, side="incumbent")
        after = yield Wave(places=places)
        pairs = zip(places, before, after, strict=True)
        differences += [(place, new - old) for place, old, new in pairs if old is not None and new is not None]
        wins = sum(1 for _, difference in differences if difference > _SAME)
        losses = sum(1 for _, difference in differences if difference < -_SAME)
        if terms.block and losses:
            return _finding(differences, "reject", "tasks that were solved before now fail", 0.0)
        if start + terms.wave < len(terms.order):
            if wins >= boundary(losses, terms.alpha):
                return _finding(differences, "accept", "a clear win", terms.alpha)
            if losses >= boundary(wins, terms.alpha):
                return _finding(differences, "reject", "it is worse", terms.alpha)
    return _last_word(differences)


@cache
def boundary(losses: int, alpha: float) -> float:
    """Return how many wins beside so many losses end the test early.

    A fair coin reaches one of the boundaries with a chance of at most alpha, however often one looks: with no loss at
    most two thirds of alpha are spent, with up to one loss eight ninths, and so on.
    """
    if losses > _MOST_LOSSES:
        return float("inf")
    spent, bounds = 0.0, list[int]()
    for lost in range(losses + 1):
        allowed = alpha * (1 - 3.0 ** -(lost + 1))
        wins = bounds[-1] + 1 if bounds else 1
        while spent + _first_reached(tuple(bounds), wins) > allowed:
            wins += 1
        spent += _first_reached(tuple(bounds), wins)
        bounds.append(wins)
    return bounds[-1]


@cache
def _first_reached(bounds: tuple[int, ...], wins: int) -> float:
    """Return the chance that a fair coin gets to so many wins with len(bounds) losses, past none of the bounds."""
    paths = [1, *[0] * wins]  # ways to stand at each number of wins, with no loss
    for lost in range(len(bounds) + 1):
        limit = bounds[lost] if lost < len(bounds) else wins
        for won in range(1, wins + 1):
            paths[won] = paths[won] + paths[won - 1] if won < limit else 0
        if lost < len(bounds):
            paths = [ways if won < limit else 0 for won, ways in enumerate(paths)]
    return paths[wins - 1] / 2.0 ** (wins + len(bounds)) if wins else 1.0


def _last_word(differences: list[tuple[int, float]]) -> Finding:
    """Decide with all of val on the table."""
    wins = sum(1 for _, difference in differences if difference > _SAME)
    losses = sum(1 for _, difference in differences if difference < -_SAME)
    effect = effect_of([difference for _, difference in differences])
    if wins and not losses:
        return _finding(differences, "accept", "a win and no loss on all of val", 0.0)
    if effect is not None and effect.gained:
        return _finding(differences, "accept", "it wins more than it loses", 0.0)
    return _finding(differences, "reject", "it does not win more than it loses", 0.0)


def _finding(differences: list[tuple[int, float]], kind: Kind, reason: str, spent: float) -> Finding:
    values = [difference for _, difference in differences]
    wins = sum(1 for each in values if each > _SAME)
    losses = sum(1 for each in values if each < -_SAME)
    return Finding(
        kind=kind,
        reason=reason,
        procedure="signs",
        look=1,
        p=sign_p(wins, losses),
        spent=spent,
        wins=wins,
        losses=losses,
        effect=effect_of(values),
        regressed=tuple(sorted(place for place, difference in differences if difference < -_SAME)),
    )


def sign_p(wins: int, losses: int) -> float:
    """Return the chance that a fair coin falls at least so many times on the side of the wins."""
    total = wins + losses
    ways, tail = 1, 0
    for lost in range(losses + 1):
        tail += ways
        ways = ways * (total - lost) // (lost + 1)
    return tail / 2.0**total
