from __future__ import annotations

import msgspec
import pytest

from skillopt.domain.usage import Usage
from skillopt.kernel.events import Event, Measured, PhaseBegan, PhaseEnded, RunEnded, SkillKept, StepBegan, StepEnded
from skillopt.kernel.view import view_of, whole
from tests.unit.kernel.test_events import EXAMPLES

KEPT, BEGAN, MEASURED = EXAMPLES[SkillKept], EXAMPLES[StepBegan], EXAMPLES[Measured]
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
    ],
)
def test_a_stopped_run_ends_at_its_last_whole_moment(events: list[Event], kept: int) -> None:
    assert whole(events) == tuple(events[:kept])
