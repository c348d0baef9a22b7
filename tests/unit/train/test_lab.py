from __future__ import annotations

import msgspec
import pytest

from skillopt.domain.errors import UnavailableError
from skillopt.kernel.events import (
    CandidateMade,
    GateDecided,
    Measured,
    PatchProposed,
    RunEnded,
    SkillKept,
    StepEnded,
    Warned,
)
from skillopt.phases.gate import GateSettings
from skillopt.testing.brains import BRAINS
from skillopt.testing.conversation import BrainReply, Conversation
from skillopt.testing.faults import FaultKind, FaultPlan
from tests.simulation.house import Lived, house, live


@pytest.fixture(scope="module")
def lived() -> Lived:
    return live(house(14))


def test_a_skill_is_told_once_and_before_anything_names_it(lived: Lived) -> None:
    told: list[str] = []
    for event in lived.events:
        if isinstance(event, SkillKept):
            told.append(event.digest)
        elif isinstance(event, Measured | CandidateMade):
            assert event.skill_digest in told
    assert len(told) == len(set(told))


def test_what_is_measured_has_a_row_for_each_task(lived: Lived) -> None:
    for measured in lived.events_of(Measured):
        assert len(measured.rows) == measured.mean.n + measured.mean.failed == 8
        assert sum(mean.n for mean in measured.by_type.values()) == 8


def test_every_stage_of_a_patch_is_told(lived: Lived) -> None:
    for step in lived.view.finished_steps:
        stages = [patch.stage for patch in step.patches]
        assert stages[-2:] == ["aggregate", "select"]
        assert set(stages[:-2]) == {"reflect"}
        assert len(step.ranked) <= (step.began.edit_budget or 0)
        assert step.candidate is not None
        assert len(step.candidate.edits) == len(step.ranked)


def test_the_last_skill_is_the_incumbent_and_the_best_is_the_best(lived: Lived) -> None:
    (ended,) = lived.events_of(RunEnded)
    last = lived.events_of(StepEnded)[-1]
    assert (ended.last_digest, ended.best_digest) == (last.skill_digest, last.best_digest)
    assert lived.best == lived.view.skills[last.best_digest].files["SKILL.md"]
    assert ended.claimed_val is None, "a score that chose the winner is not claimed for it"


def test_a_seed_that_was_never_beaten_may_claim_its_score() -> None:
    (ended,) = live(house(2)).events_of(RunEnded)
    assert ended.best_origin == "initial_skill"
    assert ended.claimed_val is not None


@pytest.mark.parametrize("kind", [FaultKind.CONTEXT, FaultKind.LENGTH, FaultKind.FILTERED])
def test_a_target_that_answers_nothing_on_val_ends_the_run(kind: FaultKind) -> None:
    silent = live(house().but(target_faults=FaultPlan.always(kind)))
    assert isinstance(silent.error, UnavailableError)
    assert "8 val tasks" in silent.error.message
    assert silent.optimizer.calls == 0


def test_unusable_reflections_are_warned_about_and_the_rest_is_used() -> None:
    def moody(conversation: Conversation) -> BrainReply:
        if "success_patterns" in conversation.system:
            return BrainReply(text="I would rather not say.")
        return BRAINS["rules"](conversation)

    moody_run = live(house(6).but(optimizer_brain=moody))
    assert moody_run.error is None
    warnings = moody_run.events_of(Warned)
    assert warnings
    assert all("Unreadable" in warning.message for warning in warnings)
    assert {event.source for event in moody_run.events_of(PatchProposed) if event.stage == "reflect"} == {"failure"}


def test_a_refused_edit_is_told_with_its_reason() -> None:
    reply = '{"patch": {"reasoning": "", "edits": [{"op": "delete", "target": "no such line"}]}}'
    refused = live(house().but(optimizer_brain=lambda _: BrainReply(text=reply)))
    candidate = refused.events_of(CandidateMade)[0]
    assert not candidate.changed
    assert [edit.status for edit in candidate.edits] == ["target_not_found"]
    assert candidate.edits[0].detail
    assert refused.records[0].edit_apply_summary == {"target_not_found": 1}


def test_force_accepts_what_was_measured() -> None:
    forced = live(house(2).but(gate=GateSettings(rule="force")))
    decided = forced.events_of(GateDecided)
    assert {
        gate.verdict for gate, made in zip(decided, forced.events_of(CandidateMade), strict=True) if made.changed
    } == {"accept"}
    assert forced.records[-1].current_origin != "initial_skill"


def test_the_gate_tells_the_number_of_its_failures() -> None:
    home = house(6, val=10)
    down = home.environment.tasks.val[0].input

    def brain(conversation: Conversation) -> BrainReply:
        if conversation.asked == down:
            return BrainReply(fault=FaultKind.CONTEXT)
        return BRAINS["rules"](conversation)

    decided = live(home.but(target_brain=brain)).events_of(GateDecided)
    assert {(gate.failed, gate.n) for gate in decided if gate.calls} == {(1, 9)}
    strict = home.but(target_brain=brain, gate=msgspec.structs.replace(home.gate, max_failed=0.0))
    lived = live(strict)
    assert {gate.verdict for gate in lived.events_of(GateDecided) if gate.calls} == {"inconclusive"}
    assert {record.action for record in lived.records} <= {"inconclusive", "skip_no_patches"}
    assert lived.best == home.plan.seed_skill.text
