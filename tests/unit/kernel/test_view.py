from __future__ import annotations

import msgspec
import pytest

from skillopt.domain.usage import Usage
from skillopt.kernel.events import (
    EpochCompared,
    EpochEnded,
    Event,
    GateDecided,
    Measured,
    NotesTaken,
    PhaseBegan,
    PhaseEnded,
    RunEnded,
    SkillKept,
    SlowUpdated,
    StepBegan,
    StepEnded,
)
from skillopt.kernel.view import view_of, whole
from tests.unit.kernel.test_events import EXAMPLES

KEPT, BEGAN, MEASURED = EXAMPLES[SkillKept], EXAMPLES[StepBegan], EXAMPLES[Measured]
COMPARED, EPOCH_ENDED = EXAMPLES[EpochCompared], EXAMPLES[EpochEnded]
ENDED, RUN_ENDED, PHASE = EXAMPLES[StepEnded], EXAMPLES[RunEnded], EXAMPLES[PhaseBegan]


def paid(verb: str, calls: int, **causes: int) -> PhaseEnded:
    return PhaseEnded(
        path=f"{verb}-{calls}",
        verb=verb,
        role="target" if verb == "rollout" else "optimizer",
        answered=calls,
        failed=sum(causes.values()),
        causes=causes,
        usage=Usage(calls=calls),
    )


def on_test(label: str) -> Measured:
    assert isinstance(MEASURED, Measured)
    return msgspec.structs.replace(MEASURED, label=label, split="test")


def test_usage_adds_up_by_role_by_stage_and_by_step() -> None:
    view = view_of([paid("rollout", 8), BEGAN, paid("rollout", 6), paid("reflect", 2), ENDED, paid("rollout", 5)])
    assert {role: usage.calls for role, usage in view.usage.items()} == {"target": 19, "optimizer": 2}
    assert {stage: usage.calls for stage, usage in view.stages.items()} == {"rollout": 19, "reflect": 2}
    assert {stage: usage.calls for stage, usage in view.steps[0].usage.items()} == {"rollout": 6, "reflect": 2}


def test_failures_are_counted_by_cause() -> None:
    view = view_of([paid("rollout", 1, AuthError=2), paid("rollout", 2, AuthError=1, RefusedError=1)])
    assert view.failures == {"AuthError": 3, "RefusedError": 1}


def test_a_phase_shows_while_it_is_under_way() -> None:
    assert view_of([PHASE]).phase == PHASE
    assert view_of([PHASE, paid("rollout", 1)]).phase is None


def test_what_is_measured_after_a_step_is_not_part_of_it() -> None:
    view = view_of([BEGAN, ENDED, on_test("best")])
    assert view.steps[0].measured is None
    assert view.score("best", "test") is not None
    assert view.score("best", "val") is None


@pytest.mark.parametrize(
    ("events", "kept"),
    [
        ([], 0),
        ([KEPT, PHASE], 1),
        ([KEPT, PHASE, MEASURED], 3),
        ([KEPT, MEASURED, BEGAN, PHASE], 2),
        ([KEPT, MEASURED, BEGAN, ENDED], 4),
        ([KEPT, MEASURED, BEGAN, ENDED, BEGAN], 4),
        ([KEPT, MEASURED, BEGAN, ENDED, PHASE, on_test("baseline"), PHASE], 4),
        ([KEPT, MEASURED, on_test("baseline"), PHASE], 2),
        ([KEPT, MEASURED, BEGAN, ENDED, on_test("best"), RUN_ENDED], 6),
        ([KEPT, MEASURED, BEGAN, ENDED, COMPARED, PHASE], 4),
        ([KEPT, MEASURED, BEGAN, ENDED, COMPARED, EPOCH_ENDED, BEGAN], 6),
    ],
)
def test_a_stopped_run_ends_at_its_last_whole_moment(events: list[Event], kept: int) -> None:
    assert whole(events) == tuple(events[:kept])


def decided(origin: str) -> GateDecided:
    gate = EXAMPLES[GateDecided]
    assert isinstance(gate, GateDecided)
    return msgspec.structs.replace(gate, origin=origin)


def on_val(label: str) -> Measured:
    assert isinstance(MEASURED, Measured)
    return msgspec.structs.replace(MEASURED, label=label)


def test_what_is_decided_between_steps_belongs_to_the_epoch() -> None:
    slow = EXAMPLES[SlowUpdated]
    own, of_epoch = decided("step_0001"), decided("slow_update_epoch_01")
    told = [BEGAN, on_val("step_0001"), own, ENDED, COMPARED, on_val("slow_update_epoch_01"), of_epoch, slow]
    view = view_of([*told, EPOCH_ENDED, on_test("best")])
    assert view.steps[0].gate == own
    assert view.steps[0].measured == on_val("step_0001")
    (epoch,) = view.epochs
    assert (epoch.compared, epoch.gate, epoch.slow_update, epoch.ended) == (COMPARED, of_epoch, slow, EPOCH_ENDED)
    assert epoch.measured == on_val("slow_update_epoch_01")


def test_forced_reminders_of_a_step_are_not_what_the_step_tried() -> None:
    own, forced, notes = decided("step_0001"), decided("appendix_step_0001"), EXAMPLES[NotesTaken]
    view = view_of([BEGAN, on_val("step_0001"), own, notes, on_val("appendix_step_0001"), forced, ENDED])
    (step,) = view.steps
    assert (step.gate, step.measured, step.notes) == (own, on_val("step_0001"), notes)


def test_the_last_whole_step_or_epoch_says_how_things_stand() -> None:
    assert view_of([BEGAN]).standing is None
    assert view_of([BEGAN, ENDED, COMPARED]).standing == ENDED
    assert view_of([BEGAN, ENDED, COMPARED, EPOCH_ENDED, BEGAN]).standing == EPOCH_ENDED
    assert isinstance(ENDED, StepEnded)
    later = msgspec.structs.replace(ENDED, step=2)
    assert view_of([BEGAN, ENDED, EPOCH_ENDED, BEGAN, later]).standing == later


def test_the_end_of_the_run_names_the_best_skill() -> None:
    assert isinstance(RUN_ENDED, RunEnded)
    promoted = msgspec.structs.replace(RUN_ENDED, best_digest="promoted")
    assert view_of([]).best_digest is None
    assert view_of([BEGAN, ENDED]).best_digest == "s"
    assert view_of([BEGAN, ENDED, promoted]).best_digest == "promoted"
