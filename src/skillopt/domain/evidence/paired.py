"""The paired gate for right and wrong answers that vary: known trials of the incumbent, new ones of the candidate.
Owns which trials are asked for, when, and what they show; refuses to know who answers."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence

import msgspec

from skillopt.domain.evidence.alpha import LOOK_SHARES, look_alpha, peek_alpha
from skillopt.domain.evidence.convolution import p_value
from skillopt.domain.evidence.course import Answers, Course, Finding, Kind, Wave
from skillopt.domain.evidence.effect import Effect, clearly_worse, effect_of
from skillopt.domain.evidence.paths import Pattern, goes_on, piece_of
from skillopt.domain.evidence.reach import tasks_needed
from skillopt.domain.evidence.terms import Terms

_LOOKS = len(LOOK_SHARES)
_CANARIES = 4

Stage = Generator[Wave, Answers, Finding | None]


def paired(terms: Terms, known: Sequence[int | None]) -> Course:
    """Test a candidate against how often each task was right in the known trials; None where they are incomplete."""
    gate = _Paired(terms, known)
    finding = yield from gate.test()
    if finding is None:
        finding = yield from gate.sweep()
    return finding


class _Pair:
    """One task: its known trials, and the candidate's as they come. A failed trial takes the task out for good."""

    def __init__(self, place: int, trials: int, known: int) -> None:
        self.place = place
        self.trials = trials
        self.known = known
        self.tries = 0
        self.wins = 0
        self.offers = 0

    @property
    def pattern(self) -> Pattern:
        return Pattern(self.trials, self.known, self.tries, self.wins, self.offers)

    @property
    def solved(self) -> bool:
        return self.known == self.trials

    @property
    def difference(self) -> float:
        return self.wins / self.tries - self.known / self.trials

    def at_best(self) -> Pattern:
        """Return where the task stands in the end if every further trial is right."""
        pattern = self.pattern
        while goes_on(pattern):
            pattern = pattern._replace(tries=pattern.tries + 1, wins=pattern.wins + 1)
        return pattern._replace(offers=_LOOKS)


class _Paired:
    """The course of one gate."""

    def __init__(self, terms: Terms, known: Sequence[int | None]) -> None:
        self._terms = terms
        self._size = len(known)
        self._pairs = [
            _Pair(place, terms.trials, right) for place in terms.order if (right := known[place]) is not None
        ]
        self._look = 0
        self._spent = 0.0
        self._p: float | None = None

    def test(self) -> Stage:
        """Look up to four times; None says that the evidence is there."""
        finding = self._without_hope()
        while finding is None and self._look < _LOOKS:
            self._look += 1
            for number, (pairs, alpha) in enumerate(self._waves()):
                yield from self._try(pairs)
                if self._shows(alpha):
                    return None
                if self._look == 1 and number == 0:
                    yield from self._try(self._canaries())
                if self._worse():
                    return self._finding("reject", "it is worse")
            finding = self._without_hope()
        return self._finding("reject", "not shown to be better") if finding is None else finding

    def sweep(self) -> Course:
        """Try what is left, and once more what was solved and has failed; the net effect has the last word."""
        yield from self._try([pair for pair in self._pairs if not pair.tries])
        yield from self._try([pair for pair in self._pairs if pair.solved and pair.tries == 1 and not pair.wins])
        effect = self._effect()
        if effect is None or not effect.gained:
            return self._finding("reject", "what it wins does not outweigh what it loses")
        if self._terms.block and self._regressed():
            return self._finding("reject", "tasks that were solved before now fail")
        return self._finding("accept", "shown to be better")

    def _waves(self) -> Iterator[tuple[list[_Pair], float]]:
        """Yield this look's waves, each with the alpha that may be spent after it; in the first look they double."""
        going = [pair for pair in self._pairs if goes_on(pair.pattern)]
        if self._look > 1:
            for pair in self._pairs:
                pair.offers = self._look
            yield going, look_alpha(self._terms.alpha, self._look)
            return
        start, size, peek = 0, self._terms.wave, 0
        while start + size < len(going):
            yield going[start : start + size], peek_alpha(self._terms.alpha, peek)
            start, size, peek = start + size, size * 2, peek + 1
        yield going[start:], look_alpha(self._terms.alpha, 1)

    def _canaries(self) -> list[_Pair]:
        """Return a few solved tasks to try, where the first wave looks no better than what is known."""
        tried = [pair for pair in self._pairs if pair.tries]
        if sum(pair.difference for pair in tried) > 0:
            return []
        return [pair for pair in self._pairs if not pair.tries and not goes_on(pair.pattern)][:_CANARIES]

    def _try(self, pairs: Sequence[_Pair]) -> Generator[Wave, Answers, None]:
        """Have one more trial of each of these tasks, which have all had as many."""
        if not pairs:
            return
        answers = yield Wave(places=tuple(pair.place for pair in pairs), trial=pairs[0].tries)
        for pair, answer in zip(pairs, answers, strict=True):
            if answer is None:
                self._pairs.remove(pair)
            else:
                pair.tries += 1
                pair.wins += answer >= 1.0
                pair.offers = max(pair.offers, self._look)

    def _shows(self, alpha: float) -> bool:
        self._spent += alpha
        self._p = p_value(piece_of(pair.pattern) for pair in self._pairs if pair.tries and not _is_canary(pair))
        return self._p <= alpha

    def _without_hope(self) -> Finding | None:
        """End the gate when not even a candidate that is always right from here on could pass."""
        alpha = look_alpha(self._terms.alpha, _LOOKS)
        reachable = [pair.at_best() for pair in self._pairs if not _is_canary(pair)]
        if p_value(piece_of(pattern) for pattern in reachable if pattern.tries) <= alpha:
            return None
        if self._look:
            return self._finding("reject", "futile: nothing that could still happen would show it to be better")
        room = sum(1 for pair in self._pairs if pair.known < pair.trials)
        if not room:
            return self._finding("reject", "futile: the incumbent solved every val task in every known trial")
        needed = math.ceil(tasks_needed(self._terms.trials, alpha) * self._size / room)
        finding = self._finding("inconclusive", f"too few val tasks that can be won: about {needed} would be needed")
        return msgspec.structs.replace(finding, needed=needed)

    def _worse(self) -> bool:
        strata = [[pair for pair in self._pairs if pair.solved is solved] for solved in (False, True)]
        seen = [[pair.difference for pair in pairs if pair.tries] for pairs in strata]
        if any(pairs and not differences for pairs, differences in zip(strata, seen, strict=True)):
            return False
        return clearly_worse([(len(pairs), each) for pairs, each in zip(strata, seen, strict=True) if pairs])

    def _effect(self) -> Effect | None:
        return effect_of([pair.difference for pair in self._pairs if pair.tries])

    def _regressed(self) -> tuple[int, ...]:
        return tuple(sorted(pair.place for pair in self._pairs if pair.solved and pair.tries > 1 and not pair.wins))

    def _finding(self, kind: Kind, reason: str) -> Finding:
        differences = [pair.difference for pair in self._pairs if pair.tries]
        return Finding(
            kind=kind,
            reason=reason,
            procedure="paths",
            look=self._look,
            p=self._p,
            spent=self._spent,
            wins=sum(1 for each in differences if each > 0),
            losses=sum(1 for each in differences if each < 0),
            effect=self._effect(),
            regressed=self._regressed(),
        )


def _is_canary(pair: _Pair) -> bool:
    """Say whether a task was tried outside the rule of continuation: its answers can only stop a candidate."""
    return pair.solved and pair.trials > 1
