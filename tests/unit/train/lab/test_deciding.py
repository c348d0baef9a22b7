from __future__ import annotations

import msgspec

from skillopt.kernel.events import (
    CandidateMade,
    GateDecided,
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
