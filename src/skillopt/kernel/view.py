"""What a run looks like at any moment: a pure fold over its events.
Owns the fold and the step records; refuses to know who shows them and where they are written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

import msgspec

from skillopt.domain.usage import Usage
from skillopt.kernel.events import (
    AgentsWorked,
    AnswersJudged,
    BatchGraded,
    BudgetDecided,
    CandidateBisected,
    CandidateMade,
    EpochCompared,
    EpochEnded,
    Event,
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
    PhaseEnded,
    PruneDecided,
    RunBegan,
    RunEnded,
    SkillKept,
    SlowUpdated,
    StepBegan,
    StepEnded,
    Warned,
)
from skillopt.kernel.run_view import EpochView, RunView, StepView

__all__ = ["EpochView", "RunView", "StepView", "fold", "view_of", "whole"]

_OfStep = (
    BatchGraded
    | PatchProposed
    | BudgetDecided
    | CandidateMade
    | NotesTaken
    | CandidateBisected
    | GateDecided
    | StepEnded
)
_OfEpoch = EpochCompared | SlowUpdated | MetaSkillWritten | EpochEnded


def view_of(events: Iterable[Event]) -> RunView:
    """Return the view of a run after these events."""
    return reduce(fold, events, RunView())


def whole(events: Sequence[Event]) -> tuple[Event, ...]:
    """Return the events up to the last moment at which the run was in one piece: no step is half shown."""
    if events and isinstance(events[-1], RunEnded):
        return tuple(events)
    for index in range(len(events) - 1, -1, -1):
        event = events[index]
        if isinstance(event, StepEnded | EpochEnded) or _is_baseline(event):
            return tuple(events[: index + 1])
    return tuple(event for event in events if isinstance(event, RunBegan | SkillKept))


def _is_baseline(event: Event) -> bool:
    return isinstance(event, Measured) and (event.label, event.split) == ("baseline", "val")


def fold(view: RunView, event: Event) -> RunView:
    """Return the view after one more event."""
    replace = msgspec.structs.replace
    match event:
        case RunBegan():
            return replace(view, began=event)
        case SkillKept():
            return replace(view, skills={**view.skills, event.digest: event})
        case PhaseBegan():
            return replace(view, phase=event)
        case PhaseEnded():
            return _phase_ended(view, event)
        case Measured() | AnswersJudged() | AgentsWorked() | PairsCompared():
            return _measured(view, event)
        case StepBegan():
            return replace(view, steps=(*view.steps, StepView(began=event, parent=_parent(view, event))))
        case Warned() | PassagesTried() | PruneDecided() | FrontierStood() | FrontierMerged():
            return _told(view, event)
        case _:
            return _epoch_event(view, event) if isinstance(event, _OfEpoch) else _step_event(view, event)


def _parent(view: RunView, step: StepBegan) -> str:
    """Return where the skill came from that a step starts from: as was drawn, or as the last one left it."""
    drawn, standing = view.search.parent_of(step.step), view.standing
    if drawn is not None:
        return drawn
    return "initial_skill" if standing is None else standing.current_origin


def _phase_ended(view: RunView, event: PhaseEnded) -> RunView:
    failures = dict(view.failures)
    for cause, count in event.causes.items():
        failures[cause] = failures[cause] + count if cause in failures else count
    counted = msgspec.structs.replace(
        view,
        phase=None,
        usage=_plus(view.usage, event.role, event.usage),
        stages=_plus(view.stages, event.verb, event.usage),
        failures=failures,
    )
    if not view.steps or view.steps[-1].ended is not None:
        return counted
    step = view.steps[-1]
    return _in_step(counted, msgspec.structs.replace(step, usage=_plus(step.usage, event.verb, event.usage)))


def _measured(view: RunView, event: Measured | AnswersJudged | AgentsWorked | PairsCompared) -> RunView:
    if isinstance(event, AgentsWorked):
        return _worked(view, event)
    if isinstance(event, PairsCompared):
        return msgspec.structs.replace(view, compared=(*view.compared, event))
    if isinstance(event, AnswersJudged):
        found = event.agreement
        return msgspec.structs.replace(view, judged=found if view.judged is None else view.judged + found)
    seen = msgspec.structs.replace(view, measured=(*view.measured, event))
    if _between_steps(view):
        return _in_epoch(seen, msgspec.structs.replace(_epoch(view), measured=event)) if _looks_back(view) else seen
    step = view.steps[-1]
    return _in_step(seen, msgspec.structs.replace(step, measured=event)) if step.owns(event.label) else seen


def _worked(view: RunView, event: AgentsWorked) -> RunView:
    found = event.conduct if view.conduct is None else view.conduct + event.conduct
    seen = msgspec.structs.replace(view, conduct=found)
    if not event.works or _between_steps(view):
        return seen
    step = view.steps[-1]
    return _in_step(seen, msgspec.structs.replace(step, works=(*step.works, *event.works)))


def _told(view: RunView, event: Warned | PassagesTried | PruneDecided | FrontierStood | FrontierMerged) -> RunView:
    replace = msgspec.structs.replace
    match event:
        case Warned():
            return replace(view, warnings=(*view.warnings, event.message))
        case PassagesTried():
            return replace(view, tried=(*view.tried, event))
        case PruneDecided():
            return replace(view, pruned=event)
        case FrontierStood() | FrontierMerged():
            return replace(view, search=view.search.after(event))


def _step_event(view: RunView, event: _OfStep | RunEnded) -> RunView:
    replace = msgspec.structs.replace
    if isinstance(event, RunEnded):
        return replace(view, ended=event, phase=None)
    if isinstance(event, GateDecided) and _between_steps(view):
        return _in_epoch(view, replace(_epoch(view), gate=event))
    if isinstance(event, GateDecided):
        view = replace(view, search=view.search.decided(event))
    return _in_step(view, _step_after(view, view.steps[-1], event))


def _step_after(view: RunView, step: StepView, event: _OfStep) -> StepView:
    replace = msgspec.structs.replace
    match event:
        case BatchGraded():
            return replace(step, batches=(*step.batches, event))
        case PatchProposed():
            return replace(step, patches=(*step.patches, event))
        case BudgetDecided():
            return replace(step, decision=event)
        case CandidateMade():
            return replace(step, candidate=event)
        case NotesTaken():
            return replace(step, notes=event)
        case GateDecided():
            return replace(step, gate=event, gates=(*step.gates, event)) if step.owns(event.origin) else step
        case CandidateBisected():
            gate = next((gate for gate in step.gates if gate.origin == event.kept), step.gate)
            return replace(
                step, candidate=event.made, measured=view.score(event.kept, "val"), gate=gate, bisected=event
            )
        case StepEnded():
            return replace(step, ended=event)


def _epoch_event(view: RunView, event: _OfEpoch) -> RunView:
    epoch, replace = _epoch(view), msgspec.structs.replace
    match event:
        case EpochCompared():
            return _in_epoch(view, replace(epoch, compared=event))
        case SlowUpdated():
            return _in_epoch(view, replace(epoch, slow_update=event))
        case MetaSkillWritten():
            return _in_epoch(view, replace(epoch, meta_skill=event))
        case EpochEnded():
            return _in_epoch(view, replace(epoch, ended=event))


def _between_steps(view: RunView) -> bool:
    return not view.steps or view.steps[-1].ended is not None


def _looks_back(view: RunView) -> bool:
    """Whether an epoch is being looked back on: what is measured then belongs to it."""
    return bool(view.epochs) and view.epochs[-1].ended is None


def _epoch(view: RunView) -> EpochView:
    return view.epochs[-1] if _looks_back(view) else EpochView()


def _in_epoch(view: RunView, epoch: EpochView) -> RunView:
    before = view.epochs[:-1] if _looks_back(view) else view.epochs
    return msgspec.structs.replace(view, epochs=(*before, epoch))


def _in_step(view: RunView, step: StepView) -> RunView:
    return msgspec.structs.replace(view, steps=(*view.steps[:-1], step))


def _plus(totals: dict[str, Usage], name: str, usage: Usage) -> dict[str, Usage]:
    if not name:
        return totals
    return {**totals, name: totals[name] + usage if name in totals else usage}
