"""The values that a run is folded into: the run, its steps and the ends of its epochs, as far as they have come.
Owns their shape and what can be read off them; refuses to know how events change them."""

from __future__ import annotations

import msgspec

from skillopt.domain.agency.conduct import Conduct
from skillopt.domain.judging import Agreement
from skillopt.domain.usage import Usage
from skillopt.kernel.events import (
    BatchGraded,
    BudgetDecided,
    CandidateBisected,
    CandidateMade,
    EditFact,
    EpochCompared,
    EpochEnded,
    FrontierMerged,
    FrontierStood,
    GateDecided,
    Measured,
    MetaSkillWritten,
    NotesTaken,
    PairsCompared,
    PassagesTried,
    PatchProposed,
    PhaseBegan,
    PruneDecided,
    RunBegan,
    RunEnded,
    SkillKept,
    SlowUpdated,
    StepBegan,
    StepEnded,
    TaskScore,
    WorkFact,
)


class StepView(msgspec.Struct, frozen=True, kw_only=True):
    """One step, as far as it has come; `parent` is the origin of the skill it started from."""

    began: StepBegan
    parent: str = "initial_skill"
    batches: tuple[BatchGraded, ...] = ()
    patches: tuple[PatchProposed, ...] = ()
    decision: BudgetDecided | None = None
    candidate: CandidateMade | None = None
    measured: Measured | None = None
    gates: tuple[GateDecided, ...] = ()
    gate: GateDecided | None = None
    bisected: CandidateBisected | None = None
    notes: NotesTaken | None = None
    ended: StepEnded | None = None
    usage: dict[str, Usage] = {}
    works: tuple[WorkFact, ...] = ()

    def owns(self, label: str) -> bool:
        """Say whether a candidate of this name is the step's own; its reminders may be measured under another."""
        return label.startswith(f"step_{self.began.step:04d}")

    @property
    def merged(self) -> tuple[EditFact, ...]:
        """The edits after merging."""
        return self._edits("aggregate")

    @property
    def ranked(self) -> tuple[EditFact, ...]:
        """The edits that were kept for applying."""
        return self._edits("select")

    @property
    def rows(self) -> tuple[TaskScore, ...]:
        """All graded rollouts of the step."""
        return tuple(row for batch in self.batches for row in batch.rows)

    def _edits(self, stage: str) -> tuple[EditFact, ...]:
        return tuple(edit for patch in self.patches if patch.stage == stage for edit in patch.edits)


class EpochView(msgspec.Struct, frozen=True, kw_only=True):
    """The end of one epoch, as far as it has come."""

    compared: EpochCompared | None = None
    measured: Measured | None = None
    gate: GateDecided | None = None
    slow_update: SlowUpdated | None = None
    meta_skill: MetaSkillWritten | None = None
    ended: EpochEnded | None = None


class MergeView(msgspec.Struct, frozen=True, kw_only=True):
    """Two skills put together, and what the gate said."""

    merged: FrontierMerged
    gate: GateDecided | None = None


class SearchView(msgspec.Struct, frozen=True, kw_only=True):
    """How the frontier stood before each step and at the end, and what was put together."""

    stood: tuple[FrontierStood, ...] = ()
    merges: tuple[MergeView, ...] = ()

    def parent_of(self, step: int) -> str | None:
        """Return the origin of the skill that a step starts from; None where there is no choice."""
        last = self.stood[-1] if self.stood else None
        return last.parent if last is not None and last.step == step and last.parent else None

    def after(self, event: FrontierStood | FrontierMerged) -> SearchView:
        """Return the view after one more event."""
        if isinstance(event, FrontierStood):
            return msgspec.structs.replace(self, stood=(*self.stood, event))
        return msgspec.structs.replace(self, merges=(*self.merges, MergeView(merged=event)))

    def decided(self, gate: GateDecided) -> SearchView:
        """Return the view after a verdict, which may be on the last two that were put together."""
        if not self.merges or self.merges[-1].merged.origin != gate.origin:
            return self
        settled = msgspec.structs.replace(self.merges[-1], gate=gate)
        return msgspec.structs.replace(self, merges=(*self.merges[:-1], settled))


class RunView(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that reports, consoles and dashboards show of a run."""

    began: RunBegan | None = None
    skills: dict[str, SkillKept] = {}
    measured: tuple[Measured, ...] = ()
    steps: tuple[StepView, ...] = ()
    epochs: tuple[EpochView, ...] = ()
    usage: dict[str, Usage] = {}
    stages: dict[str, Usage] = {}
    failures: dict[str, int] = {}
    judged: Agreement | None = None
    conduct: Conduct | None = None
    compared: tuple[PairsCompared, ...] = ()
    phase: PhaseBegan | None = None
    search: SearchView = SearchView()
    warnings: tuple[str, ...] = ()
    tried: tuple[PassagesTried, ...] = ()
    pruned: PruneDecided | None = None
    ended: RunEnded | None = None

    @property
    def finished_steps(self) -> tuple[StepView, ...]:
        """The steps that are whole."""
        return tuple(step for step in self.steps if step.ended is not None)

    @property
    def standing(self) -> StepEnded | EpochEnded | None:
        """How things stood after the last step or epoch that is whole; None before the first step."""
        steps, epochs = self.finished_steps, [epoch.ended for epoch in self.epochs if epoch.ended is not None]
        last = steps[-1].ended if steps else None
        return epochs[-1] if last is not None and epochs and epochs[-1].step == last.step else last

    @property
    def best_digest(self) -> str | None:
        """The digest of the best skill so far; None before the run began."""
        standing = self.standing
        if self.ended is not None:
            return self.ended.best_digest
        if standing is not None:
            return standing.best_digest
        return None if self.began is None else self.began.skill_digest

    def score(self, label: str, split: str) -> Measured | None:
        """Return what was measured under this label on this split."""
        return next((each for each in self.measured if each.label == label and each.split == split), None)
