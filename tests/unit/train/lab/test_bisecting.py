from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import msgspec
import pytest

from skillopt.kernel.events import CandidateBisected, CandidateMade, GateDecided, PhaseBegan
from skillopt.phases.gate import GateSettings
from skillopt.testing.conversation import BrainReply, Conversation
from skillopt.testing.worlds import RULES
from skillopt.train.attribution.blame import blame_of
from skillopt.train.settings import OptimizerSettings
from tests.simulation.house import House, Lived, house, live

HARM = RULES.harmful.sentence if RULES.harmful is not None else ""
GOOD = tuple(rule.sentence for rule in RULES.rules)
ON = GateSettings(bisect=True)


def proposing(*contents: str) -> Callable[[Conversation], BrainReply]:
    """Return an optimizer that proposes the same sentences each time."""
    edits = [{"op": "append", "content": content} for content in contents]

    def reply(_conversation: Conversation) -> BrainReply:
        return BrainReply(text=json.dumps({"patch": {"reasoning": "", "edits": edits}}))

    return reply


def spoilt(contents: Sequence[str], gate: GateSettings = ON, seed: int = 3) -> House:
    """Return a house whose first step proposes these sentences together; the rest of its steps can add nothing."""
    home = house(seed, train_size=6, val=40, epochs=1)
    plan = msgspec.structs.replace(home.plan, optimizer=OptimizerSettings(edit_budget=9, schedule="unlimited"))
    return home.but(plan=plan, gate=gate, optimizer_brain=proposing(*contents))


def told(lived: Lived) -> CandidateBisected:
    (event,) = lived.events_of(CandidateBisected)
    return event


# the harm done to fragile tasks outweighs what these rules bring on the 40 val tasks of this world
MIXED = (GOOD[1], GOOD[2], HARM)


def test_the_good_half_of_a_rejected_candidate_is_kept() -> None:
    lived = live(spoilt(MIXED))
    assert lived.error is None
    event = told(lived)
    assert (event.origin, event.kept, event.tried) == ("step_0001", "step_0001a", ("step_0001a", "step_0001b"))
    verdicts = [(gate.origin, gate.verdict) for gate in lived.events_of(GateDecided)]
    assert verdicts == [("step_0001", "reject"), ("step_0001a", "accept"), ("step_0001b", "reject")]
    assert GOOD[1] in lived.best
    assert HARM not in lived.best
    record = lived.records[0]
    assert (record.action, record.current_origin, record.best_origin) == ("accept_new_best", *("step_0001a",) * 2)
    assert record.candidate_hash == event.made.skill_digest[:16]
    assert record.edit_apply_summary == {"applied": 2}
    best = lived.summary.scores.best.val
    assert best is not None
    assert (best.hard, lived.summary.best_step, lived.summary.accepts) == (record.selection_hard, 1, 1)


def test_a_kept_line_is_explained_by_the_part_that_was_accepted() -> None:
    lived = live(spoilt(MIXED))
    blame = blame_of(lived.events)
    (line,) = (line for line in blame.pages[told(lived).made.skill_digest]["SKILL.md"] if line.text == GOOD[1])
    assert line.origin == "step_0001a"
    assert line.edit is not None
    assert line.edit.content == GOOD[1]
    assert blame.origins["step_0001a"].better


def test_off_is_the_default_and_leaves_the_reject() -> None:
    lived = live(spoilt(MIXED, GateSettings()))
    assert lived.events_of(CandidateBisected) == []
    assert [record.action for record in lived.records] == ["reject"]


@pytest.mark.parametrize(
    ("contents", "why"),
    [((HARM,), "a single edit has no halves"), ((GOOD[0], GOOD[1]), "what is accepted needs none")],
)
def test_what_cannot_or_need_not_be_halved_is_not(contents: tuple[str, ...], why: str) -> None:
    assert live(spoilt(contents)).events_of(CandidateBisected) == [], why


@pytest.mark.parametrize(("levels", "tried"), [(1, "ab"), (2, "ab|aa|ab|ba|bb"), (None, "ab|aa|ab|ba|bb")])
def test_rejected_halves_are_halved_as_often_as_the_config_says(levels: int | None, tried: str) -> None:
    useless = ("Be kind.", "Be glad.", "Be here.", "Be quick.")
    lived = live(spoilt(useless, GateSettings(bisect=True, bisect_levels=levels)))
    event = told(lived)
    first, *rest = tried.split("|")
    assert event.tried == (*(f"step_0001{letter}" for letter in first), *(f"step_0001{letters}" for letters in rest))
    assert event.kept == "step_0001"
    (made,) = lived.events_of(CandidateMade)
    assert event.made == made
    assert [record.action for record in lived.records] == ["reject"]
    assert lived.records[0].candidate_hash == made.skill_digest[:16]
    assert lived.view.steps[0].gate == lived.events_of(GateDecided)[0]


def test_each_part_is_measured_under_its_own_name() -> None:
    paths = [
        event.path for event in live(spoilt(MIXED, msgspec.structs.replace(ON, rule="strict"))).events_of(PhaseBegan)
    ]
    assert [path for path in paths if path.startswith("step_0001/step_0001")] == [
        "step_0001/step_0001/val",
        "step_0001/step_0001a/val",
        "step_0001/step_0001b/val",
    ]


def test_a_part_that_is_accepted_on_some_of_val_has_its_text_told() -> None:
    lived = live(spoilt(MIXED, GateSettings(bisect=True, deterministic=True)))
    assert lived.error is None
    assert {gate.skill_digest for gate in lived.events_of(GateDecided)} <= set(lived.view.skills)
