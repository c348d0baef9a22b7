from __future__ import annotations

import msgspec

from skillopt.kernel.events import (
    CandidateMade,
    GateDecided,
    Measured,
)
from skillopt.phases.gate import GateSettings
from skillopt.testing.brains import BRAINS
from skillopt.testing.conversation import BrainReply, Conversation
from skillopt.testing.faults import FaultKind
from tests.simulation.house import house, live


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


PAIRED = GateSettings()


def test_the_trials_that_decided_are_no_bar_and_no_claim() -> None:
    lived = live(house(2, val=20, epochs=3).but(gate=PAIRED))
    accepted = [gate for gate in lived.events_of(GateDecided) if gate.verdict == "accept"]
    assert accepted
    bars = {each.label: each for each in lived.events_of(Measured) if each.split == "val"}
    assert set(bars) == {"baseline", *(gate.origin for gate in accepted)}
    for label, bar in bars.items():
        trials = {row.trial for row in bar.rows}
        assert trials == ({0, 1, 2} if label == "baseline" else {16, 17, 18})
        assert (len(bar.rows), bar.mean.n) == (60, 20)
    assert lived.summary.claimed_val == bars[accepted[-1].origin].mean.hard
    assert lived.records[-1].current_score == lived.summary.claimed_val


def test_a_rejected_candidate_has_no_score_but_its_evidence_and_n() -> None:
    lived = live(house(1, val=20, epochs=3).but(gate=PAIRED))
    rejected = [record for record in lived.records if record.action == "reject"]
    assert rejected
    for record in rejected:
        assert (record.selection_hard, record.candidate_gate_score) == (None, None)
        assert record.evidence is not None
        assert record.selection_n <= 20
        assert record.evidence.alpha == 0.05
        assert record.evidence.spent <= 0.05 + 1e-12


def test_control_over_a_run_gives_each_gate_its_part() -> None:
    home = house(2, val=20, epochs=3)
    lived = live(home.but(gate=GateSettings(control="run")))
    alphas = {gate.evidence.alpha for gate in lived.events_of(GateDecided) if gate.evidence is not None}
    assert alphas == {0.05 / (home.plan.total_steps + 1)}


def test_where_answers_do_not_vary_no_task_is_put_twice_to_a_skill() -> None:
    lived = live(house(2, val=20, epochs=3).but(gate=GateSettings(deterministic=True)))
    assert [gate for gate in lived.events_of(GateDecided) if gate.verdict == "accept"]
    assert {row.trial for each in lived.events_of(Measured) for row in each.rows} == {0}
    assert lived.summary.claimed_val is not None
