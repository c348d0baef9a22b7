from __future__ import annotations

import json

import msgspec
import pytest

from skillopt.domain.skill import Skill
from skillopt.kernel.events import GateDecided, Measured, NotesTaken
from skillopt.phases.consolidate.notes import SkillAwareSettings, noted
from skillopt.testing.brains import BRAINS
from skillopt.testing.conversation import BrainReply, Conversation
from tests.simulation.house import House, Lived, house, live


def reminding(accept: str, *notes: str, edits: bool = False) -> House:
    """Return a house whose optimizer leaves these reminders, with or without edits."""

    def brain(conversation: Conversation) -> BrainReply:
        reply = json.loads(BRAINS["rules"](conversation).text)
        patch = reply["patch"] if edits else {"reasoning": "", "edits": []}
        return BrainReply(text=json.dumps({**reply, "patch": patch, "appendix_notes": list(notes)}))

    home = house(2, epochs=1)
    aware = SkillAwareSettings(enabled=True, accept="force" if accept == "force" else "gated")
    optimizer = msgspec.structs.replace(home.plan.optimizer, skill_aware=aware)
    return home.but(optimizer_brain=brain, plan=msgspec.structs.replace(home.plan, optimizer=optimizer))


def last(lived: Lived) -> Skill:
    assert lived.view.ended is not None
    return Skill.from_files(lived.view.skills[lived.view.ended.last_digest].files)


def test_reminders_alone_make_a_candidate_for_the_gate() -> None:
    lived = live(reminding("gated", "Mind the gap."))
    assert [record.action for record in lived.records] == ["reject", "reject"]
    assert {record.n_appendix_notes_added for record in lived.records} == {1}
    assert noted(last(lived)) == (), "rejected with the candidate"


def test_forced_reminders_are_measured_and_stay() -> None:
    lived = live(reminding("force", "Mind the gap.", "mind the GAP"))
    assert noted(last(lived)) == ("Mind the gap.",)
    assert [record.action for record in lived.records] == ["skip_no_patches"] * 2
    assert [gate.origin for gate in lived.events_of(GateDecided) if gate.rule == "force"] == ["appendix_step_0001"]
    assert "appendix_step_0001" in {each.label for each in lived.events_of(Measured)}
    assert lived.records[0].current_origin == "appendix_step_0001"
    assert lived.records[0].selection_hard is None, "what the step itself tried was not measured"


def test_the_gates_word_on_the_step_is_its_own() -> None:
    lived = live(reminding("force", "Mind the gap.", edits=True))
    for step in lived.view.finished_steps:
        assert step.gate is not None
        assert step.gate.origin == f"step_{step.began.step:04d}"
        assert step.measured is None or step.measured.label == step.gate.origin


@pytest.mark.parametrize("accept", ["gated", "force"])
def test_a_refused_reminder_is_told(accept: str) -> None:
    lived = live(reminding(accept, "See <!-- here"))
    assert [taken.refused for taken in lived.events_of(NotesTaken)] == [("See <!-- here",)] * 2
    assert any("reminder was refused" in warning for warning in lived.view.warnings)
    assert noted(last(lived)) == ()


def test_without_reminders_nothing_is_told() -> None:
    lived = live(reminding("gated"))
    assert not lived.events_of(NotesTaken)
    assert {record.n_appendix_notes_total for record in lived.records} == {None}


def test_notes_that_nobody_asked_for_are_ignored() -> None:
    home = reminding("gated", "Mind the gap.")
    off = msgspec.structs.replace(home.plan.optimizer, skill_aware=SkillAwareSettings())
    lived = live(home.but(plan=msgspec.structs.replace(home.plan, optimizer=off)))
    assert not lived.events_of(NotesTaken)
