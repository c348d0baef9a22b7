from __future__ import annotations

import pytest

from skillopt.kernel.events import (
    CandidateMade,
    PatchProposed,
    Warned,
)
from skillopt.testing.brains import BRAINS
from skillopt.testing.conversation import BrainReply, Conversation
from tests.simulation.house import Lived, house, live


@pytest.fixture(scope="module")
def lived() -> Lived:
    return live(house(14))


def test_every_stage_of_a_patch_is_told(lived: Lived) -> None:
    for step in lived.view.finished_steps:
        stages = [patch.stage for patch in step.patches]
        assert stages[-2:] == ["aggregate", "select"]
        assert set(stages[:-2]) == {"reflect"}
        assert len(step.ranked) <= (step.began.edit_budget or 0)
        assert step.candidate is not None
        assert len(step.candidate.edits) == len(step.ranked)


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
