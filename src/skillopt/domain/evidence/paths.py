"""The ways in which one task's trials can have come about, and how much each says for the candidate.
Owns the declared rule of continuation and the declared alternative; refuses to know other tasks and thresholds."""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import msgspec

from skillopt.domain.evidence.convolution import Piece, Side

_LOOKS = 4


class Pattern(NamedTuple):
    """One task: of `trials` known trials `known` were right; then `wins` of `tries`, after `offers` looks."""

    trials: int
    known: int
    tries: int = 0
    wins: int = 0
    offers: int = 0


class Alternative(msgspec.Struct, frozen=True, kw_only=True):
    """The declared guess that scores are made for: a share of tasks is mended to `mended`, the rest is as it was.

    What is right or wrong before is spread as Beta(spread, spread). A poor guess costs power, never the error rate.
    """

    share: float = 0.15
    mended: float = 0.97
    spread: float = 0.5
    units: int = 4


DECLARED = Alternative()


def goes_on(pattern: Pattern) -> bool:
    """Say whether a task gets another candidate trial: a rule of its own outcomes, declared before any was seen."""
    trials, known, tries, wins, _ = pattern
    if tries >= _LOOKS:
        return False
    if tries == 0:
        return known < trials or trials == 1
    if trials > 1 and known == trials:
        return False
    return known + wins > 0 and (tries == 1 or wins >= tries - 1)


@cache
def path_count(trials: int, known: int, offers: int, tries: int, wins: int) -> int:
    """Return how many sequences of answers end in so many tries and wins after so many offers."""
    return dict(_ends(trials, known, offers)).get((tries, wins), 0)


@cache
def piece_of(pattern: Pattern, alternative: Alternative = DECLARED) -> Piece:
    """Return how the known trials may have fallen, given the total: whatever the task's chance is, at H0's edge."""
    trials, known, tries, wins, offers = pattern
    total, right = trials + tries, known + wins
    ways = {
        k: math.comb(trials, k) * paths
        for k in range(trials + 1)
        if (paths := path_count(trials, k, offers, tries, right - k))
    }
    if known not in ways:
        raise ValueError(f"No path leads to {pattern}.")
    scores = _scores(ways, trials, total, right, alternative)
    least = min(scores.values())
    sides = tuple(Side(weight=ways[k], score=scores[k] - least) for k in ways)
    return Piece(sides=sides, observed=scores[known] - least)


def _scores(ways: dict[int, int], trials: int, total: int, right: int, alternative: Alternative) -> dict[int, int]:
    """Return the rounded log-likelihood ratio of each way, given the total; never below 0.

    Cut off there, a better answer never lowers the score of a task, whatever the rule of continuation makes of it.
    """
    tries, mended, spread = total - trials, alternative.mended, alternative.spread
    everything = sum(ways.values())
    as_before = (1 - alternative.share) * everything * _beta(right + spread, total - right + spread)
    changed = {
        k: alternative.share
        * weight
        * mended ** (right - k)
        * (1 - mended) ** (tries - right + k)
        * _beta(k + spread, trials - k + spread)
        for k, weight in ways.items()
    }
    anything = as_before + sum(changed.values())
    return {
        k: max(0, round(alternative.units * math.log((as_before + changed[k] * everything / ways[k]) / anything)))
        for k in ways
    }


@cache
def _ends(trials: int, known: int, offers: int) -> tuple[tuple[tuple[int, int], int], ...]:
    """Return where a task can stand after so many offers, with the number of sequences that lead there."""
    live, ended = {(0, 0): 1}, dict[tuple[int, int], int]()
    for _ in range(offers):
        following: dict[tuple[int, int], int] = {}
        for (tries, wins), paths in live.items():
            if not goes_on(Pattern(trials, known, tries, wins)):
                ended[tries, wins] = ended.get((tries, wins), 0) + paths
                continue
            for won in (0, 1):
                place = (tries + 1, wins + won)
                following[place] = following.get(place, 0) + paths
        live = following
    for place, paths in live.items():
        ended[place] = ended.get(place, 0) + paths
    return tuple(ended.items())


def _beta(a: float, b: float) -> float:
    return math.exp(math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b))
