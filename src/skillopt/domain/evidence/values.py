"""The paired gate for part marks: which of a task's trials are the candidate's is all that chance decides under H0.
Owns the exact randomisation test and its two looks; refuses to know who answers."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Generator, Sequence

from skillopt.domain.evidence.alpha import peek_alpha
from skillopt.domain.evidence.convolution import Piece, Side, p_value
from skillopt.domain.evidence.course import Answers, Course, Finding, Kind, Wave
from skillopt.domain.evidence.effect import clearly_worse, effect_of
from skillopt.domain.evidence.terms import Terms

_UNITS = 5  # a difference of means is rounded to fifths
_LOOK_SHARES = (0.42, 0.5)
_SAME = 1e-9

Known = Sequence[tuple[float, ...] | None]


def values(terms: Terms, known: Known) -> Course:
    """Test a candidate by its marks against the marks of the known trials; None where they are incomplete.

    Every task is tried once, and once more if its marks are not all equal: a rule that treats all trials of a task
    alike, so that at H0's edge any of them may be the candidate's with the same chance.
    """
    gate = _Values(terms, known)
    shown = yield from gate.test()
    if not shown:
        return gate.finding("reject", "it is worse" if gate.worse() else "not shown to be better")
    yield from gate.sweep()
    effect = effect_of(gate.differences())
    if effect is None or not effect.gained:
        return gate.finding("reject", "what it wins does not outweigh what it loses")
    if terms.block and gate.finding("reject", "").regressed:
        return gate.finding("reject", "tasks that were solved before now fail")
    return gate.finding("accept", "shown to be better")


def piece_of(known: tuple[float, ...], tried: tuple[float, ...]) -> Piece:
    """Return how the marks of one task may be dealt to the candidate, scored by the rounded difference of means."""
    marks = (*known, *tried)
    whole, count = sum(marks), len(tried)

    def score(chosen: Sequence[float]) -> int:
        return round(_UNITS * (sum(chosen) / count - (whole - sum(chosen)) / len(known)))

    dealt = Counter(score(chosen) for chosen in itertools.combinations(sorted(marks), count))
    least = min(dealt)
    sides = tuple(Side(weight=ways, score=points - least) for points, ways in sorted(dealt.items()))
    return Piece(sides=sides, observed=score(sorted(tried)) - least)


class _Values:
    """The course of one gate."""

    def __init__(self, terms: Terms, known: Known) -> None:
        self._terms = terms
        self._known = {place: marks for place in terms.order if (marks := known[place]) is not None}
        self._tried: dict[int, tuple[float, ...]] = {place: () for place in self._known}
        self._look = 1
        self._p: float | None = None
        self._spent = 0.0

    def test(self) -> Generator[Wave, Answers, bool]:
        """Try each task, and once more those whose marks differ; say whether the evidence is there."""
        places, start, size, peek = list(self._known), 0, self._terms.wave, 0
        while start + size < len(places):
            yield from self._try(places[start : start + size])
            if self._shows(peek_alpha(self._terms.alpha, peek)):
                return True
            if self.worse():
                return False
            start, size, peek = start + size, size * 2, peek + 1
        yield from self._try(places[start:])
        if self._shows(self._terms.alpha * _LOOK_SHARES[0]):
            return True
        self._look = 2
        yield from self._try([place for place in self._tried if self._varies(place)])
        return self._shows(self._terms.alpha * _LOOK_SHARES[1])

    def sweep(self) -> Generator[Wave, Answers, None]:
        """Try what is left."""
        yield from self._try([place for place, tried in self._tried.items() if not tried])

    def worse(self) -> bool:
        """Say whether what was seen lies clearly below zero."""
        return bool(self._known) and clearly_worse([(len(self._known), self.differences())])

    def differences(self) -> list[float]:
        """Return candidate less incumbent, for each task that was tried."""
        return [
            sum(tried) / len(tried) - sum(self._known[place]) / len(self._known[place])
            for place, tried in self._tried.items()
            if tried
        ]

    def finding(self, kind: Kind, reason: str) -> Finding:
        """Return what the course came to."""
        differences = self.differences()
        return Finding(
            kind=kind,
            reason=reason,
            procedure="values",
            look=self._look,
            p=self._p,
            spent=self._spent,
            wins=sum(1 for each in differences if each > _SAME),
            losses=sum(1 for each in differences if each < -_SAME),
            effect=effect_of(differences),
            regressed=tuple(
                sorted(
                    place
                    for place, tried in self._tried.items()
                    if len(tried) > 1 and max(tried) <= min(self._known[place]) - 0.5
                )
            ),
        )

    def _varies(self, place: int) -> bool:
        return len({*self._known[place], *self._tried[place]}) > 1

    def _try(self, places: Sequence[int]) -> Generator[Wave, Answers, None]:
        if not places:
            return
        answers = yield Wave(places=tuple(places), trial=len(self._tried[places[0]]))
        for place, answer in zip(places, answers, strict=True):
            if answer is None:
                del self._tried[place], self._known[place]
            else:
                self._tried[place] = (*self._tried[place], answer)

    def _shows(self, alpha: float) -> bool:
        self._spent += alpha
        pieces = (piece_of(self._known[place], tried) for place, tried in self._tried.items() if tried)
        self._p = p_value(pieces)
        return self._p <= alpha
