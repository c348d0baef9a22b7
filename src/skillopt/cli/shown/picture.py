"""What a watcher of a run knows at any moment: where it is, its scores, what it used, what went wrong.
Owns the counting of facts, cheap enough for every call; refuses to know the time, a terminal or how it looks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from skillopt.domain.usage import NOTHING
from skillopt.kernel.events import (
    AttemptFailed,
    CandidateBisected,
    EpochEnded,
    Event,
    GateDecided,
    Mean,
    Measured,
    PhaseBegan,
    PhaseEnded,
    RunBegan,
    RunEnded,
    Signal,
    SlotsChanged,
    SlowUpdated,
    StepBegan,
    StepEnded,
    UnitSettled,
    Warned,
)

ACCEPTED, REJECTED, INCONCLUSIVE, SKIPPED = "✓", "✗", "?", "·"
_GLYPHS: Mapping[str, str] = {"accept": ACCEPTED, "reject": REJECTED, "inconclusive": INCONCLUSIVE}


class Phase:
    """How far one phase is."""

    __slots__ = ("failed", "replayed", "settled", "units", "verb")

    def __init__(self, verb: str, units: int) -> None:
        self.verb = verb
        self.units = units
        self.settled = 0
        self.replayed = 0
        self.failed = 0


class Picture:
    """The state of one run as facts tell it; written by the run, read by whoever draws."""

    def __init__(self) -> None:
        self.began: RunBegan | None = None
        self.ended: RunEnded | None = None
        self.step: StepBegan | None = None
        self.phases: dict[str, Phase] = {}
        self.calls = 0
        self.usage = NOTHING
        self.history = ""
        self.scores: tuple[float | None, float | None] = (None, None)
        self.slots: dict[str, SlotsChanged] = {}
        self.last_failure: AttemptFailed | None = None
        self.failures = 0
        self.warning: str | None = None
        self._digests: tuple[str, str] = ("", "")
        self._means: dict[str, Mean] = {}
        self._heed: Mapping[type, Callable[[Any], None]] = {
            RunBegan: self._run_began,
            PhaseBegan: self._phase_began,
            PhaseEnded: self._phase_ended,
            Measured: self._measured,
            StepBegan: self._step_began,
            GateDecided: self._gate_decided,
            CandidateBisected: self._bisected,
            StepEnded: self._standing,
            EpochEnded: self._standing,
            SlowUpdated: self._slow_updated,
            Warned: self._warned,
            RunEnded: self._run_ended,
            AttemptFailed: self._attempt_failed,
            SlotsChanged: self._slots_changed,
        }

    def see(self, fact: Event | Signal) -> None:
        """Take note of a fact; a settled unit, of which there are many, is only counted."""
        if type(fact) is UnitSettled:
            phase = self.phases.get(fact.path)
            if phase is not None:
                phase.settled += 1
                phase.replayed += fact.replayed
                phase.failed += not fact.answered
            self.calls += not fact.replayed
            return
        heed = self._heed.get(type(fact))
        if heed is not None:
            heed(fact)

    @property
    def phase(self) -> Phase | None:
        """The phase that began last and has not ended."""
        return next(reversed(list(self.phases.values())), None)

    def mean(self, *, best: bool) -> Mean | None:
        """Return how the current or the best skill measured on the validation tasks."""
        return self.mean_of(self._digests[best])

    def mean_of(self, skill_digest: str) -> Mean | None:
        """Return how a skill measured on the validation tasks when it last was."""
        return self._means.get(skill_digest)

    def _run_began(self, fact: RunBegan) -> None:
        self.began = fact
        self._digests = (fact.skill_digest, fact.skill_digest)

    def _phase_began(self, fact: PhaseBegan) -> None:
        self.phases = {**self.phases, fact.path: Phase(fact.verb, fact.units)}

    def _phase_ended(self, fact: PhaseEnded) -> None:
        self.phases = {path: phase for path, phase in self.phases.items() if path != fact.path}
        self.usage += fact.usage

    def _measured(self, fact: Measured) -> None:
        if fact.split != "val":
            return
        self._means = {**self._means, fact.skill_digest: fact.mean}
        if fact.label == "baseline" and self.began is not None and self.step is None:
            measured = {"hard": fact.mean.hard, "soft": fact.mean.soft}
            score = measured.get(self.began.gate_metric)
            self.scores = (score, score)

    def _step_began(self, fact: StepBegan) -> None:
        self.step = fact

    def _gate_decided(self, fact: GateDecided) -> None:
        if not fact.origin.startswith("step_"):
            return
        skipped = fact.action.startswith("skip")
        self.history += SKIPPED if skipped else _GLYPHS.get(fact.verdict, INCONCLUSIVE)

    def _bisected(self, fact: CandidateBisected) -> None:
        """Show a step once, by what it came to, and not each part that was tried."""
        before = self.history[: -len(fact.tried) - 1]
        self.history = before + (REJECTED if fact.kept == fact.origin else ACCEPTED)

    def _standing(self, fact: StepEnded | EpochEnded) -> None:
        self.scores = (fact.current_score, fact.best_score)
        self._digests = (fact.skill_digest, fact.best_digest)

    def _slow_updated(self, fact: SlowUpdated) -> None:
        """A region that was only put there is nothing a model sees: the skill scores as before."""
        mean = self.mean(best=False)
        if fact.action == "inject_placeholder" and mean is not None:
            self._means = {**self._means, fact.skill_digest: mean}

    def _warned(self, fact: Warned) -> None:
        self.warning = fact.message

    def _run_ended(self, fact: RunEnded) -> None:
        self.ended = fact

    def _attempt_failed(self, fact: AttemptFailed) -> None:
        self.last_failure = fact
        self.failures += 1

    def _slots_changed(self, fact: SlotsChanged) -> None:
        self.slots = {**self.slots, fact.account: fact}
