"""Tries a rejected candidate again in halves, since one bad edit may have spoilt good ones.
Owns which parts are tried and which is kept; refuses to know how a part is decided: that is the same gate's to say."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Protocol

import msgspec

from skillopt.domain.progress.state import Gated, Part, TrainState
from skillopt.domain.skill import Candidate, Edit, apply
from skillopt.domain.verdicts import Accept, Reject
from skillopt.kernel.events import CandidateBisected, CandidateMade
from skillopt.train.lab.parts import Parts, Teller, candidate_made
from skillopt.train.plan import Plan


class Gate(Protocol):
    """Decides whether a candidate, named by its origin, takes the incumbent's place."""

    async def __call__(self, plan: Plan, origin: str, candidate: Candidate, state: TrainState) -> Gated:
        """Return the verdict and what was measured."""
        ...


class Bisecting:
    """The gate with a second chance for the parts of what it rejects.

    Which parts are tried depends on verdicts only, never on what is left of a budget: a run that a cap stopped goes on
    as if it had not been stopped.
    """

    def __init__(self, parts: Parts, teller: Teller, gate: Gate) -> None:
        self._run = parts.run
        self._optimizer = parts.optimizer
        self._teller = teller
        self._settings = parts.gate
        self._gate = gate

    async def gate(self, plan: Plan, origin: str, candidate: Candidate, state: TrainState) -> Gated:
        """Decide on the whole candidate, and where the config says so, on the halves of a rejected one."""
        whole = await self._gate(plan, origin, candidate, state)
        edits = tuple(each.edit for each in candidate.applied)
        if not self._settings.bisect or not isinstance(whole.verdict, Reject) or len(edits) < 2:
            return whole
        tried: list[Gated] = []
        waiting = [(origin, edits)]
        levels = self._settings.bisect_levels
        while waiting and not _accepted(tried) and (levels is None or levels > 0):
            level = [await self._part(plan, name, half, state) for name, half in _halves(waiting)]
            tried += level
            waiting = list(_divisible(level))
            levels = None if levels is None else levels - 1
        accepted = _accepted(tried)
        # the first of equals is kept
        kept = max(accepted, key=_value) if accepted else whole
        self._tell(origin, candidate_made(state.steps_done + 1, _made(candidate, kept)), tried, kept)
        return kept

    async def _part(self, plan: Plan, origin: str, edits: Sequence[Edit], state: TrainState) -> Gated:
        may = self._optimizer
        half = apply(state.skill, edits, edit_scripts=may.edit_scripts, edit_description=may.edit_description)
        self._teller.keep(half.skill)
        part = Part(origin=origin, candidate=half)
        gated = await self._gate(plan, origin, part.candidate, state)
        return msgspec.structs.replace(gated, part=part)

    def _tell(self, origin: str, made: CandidateMade, tried: Sequence[Gated], kept: Gated) -> None:
        self._run.emit(
            CandidateBisected(
                origin=origin,
                kept=origin if kept.part is None else kept.part.origin,
                tried=tuple(each.part.origin for each in tried if each.part is not None),
                made=made,
            )
        )


def _halves(waiting: Sequence[tuple[str, tuple[Edit, ...]]]) -> Iterator[tuple[str, tuple[Edit, ...]]]:
    """Yield both halves of each, the larger first, in the order in which the edits were applied."""
    for origin, edits in waiting:
        middle = (len(edits) + 1) // 2
        yield f"{origin}a", edits[:middle]
        yield f"{origin}b", edits[middle:]


def _divisible(level: Sequence[Gated]) -> Iterator[tuple[str, tuple[Edit, ...]]]:
    for gated in level:
        if gated.part is not None and isinstance(gated.verdict, Reject):
            edits = tuple(each.edit for each in gated.part.candidate.applied)
            if len(edits) > 1:
                yield gated.part.origin, edits


def _made(candidate: Candidate, kept: Gated) -> Candidate:
    return candidate if kept.part is None else kept.part.candidate


def _accepted(tried: Sequence[Gated]) -> list[Gated]:
    return [gated for gated in tried if isinstance(gated.verdict, Accept)]


def _value(gated: Gated) -> float:
    return -math.inf if gated.verdict.candidate is None else gated.verdict.candidate
