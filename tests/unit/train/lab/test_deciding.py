from __future__ import annotations

import msgspec
import pytest

from skillopt.domain.errors import BudgetReachedError
from skillopt.domain.skill import Skill
from skillopt.kernel.events import CandidateMade, GateDecided, Measured, PhaseBegan, PhaseEnded
from skillopt.phases.consolidate.notes import SkillAwareSettings
from skillopt.phases.gate import GateSettings
from skillopt.testing.brains import BRAINS
from skillopt.testing.conversation import BrainReply, Conversation
from skillopt.testing.faults import FaultKind
from skillopt.testing.worlds import RULES
from skillopt.train.settings import StopSettings
from tests.simulation.house import SEED_SKILL, House, house, live


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


ALIKE = GateSettings(deterministic=True)


@pytest.mark.parametrize("seed", range(1, 9))
def test_where_answers_do_not_vary_the_first_gate_asks_what_it_needs_of_the_seed_skill(seed: int) -> None:
    lived = live(house(seed, val=40, epochs=3).but(gate=ALIKE))
    assert lived.error is None, f"seed {seed}"
    assert lived.events_of(PhaseBegan)[0].path == "step_0001/rollout", f"seed {seed}"
    (told,) = [each for each in lived.events_of(Measured) if (each.label, each.split) == ("baseline", "val")]
    assert len(told.rows) == 40, f"seed {seed}"
    scores = lived.summary.scores
    assert scores.baseline.val is not None, f"seed {seed}"
    assert scores.best.val is not None, f"seed {seed}"
    assert scores.baseline.val.n == scores.best.val.n == 40, f"seed {seed}"
    waves = [gate for gate in lived.events_of(GateDecided) if gate.evidence is not None]
    assert all(gate.incumbent is not None for gate in waves), f"seed {seed}"


def measured_first(home: House) -> House:
    """Return the house with a setting that could force a change in, if anything proposed one."""
    optimizer = msgspec.structs.replace(home.plan.optimizer, skill_aware=SkillAwareSettings(accept="force"))
    return home.but(plan=msgspec.structs.replace(home.plan, optimizer=optimizer))


def test_a_score_that_is_looked_at_before_the_first_gate_is_measured_first() -> None:
    home = house(2, val=20).but(gate=ALIKE)
    for early in (
        measured_first(home),
        home.but(plan=msgspec.structs.replace(home.plan, stop=StopSettings(target=1.0))),
        home.but(gate=GateSettings(rule="strict")),
    ):
        assert live(early).events_of(PhaseBegan)[0].path == "start/baseline/val"


def test_a_seed_skill_that_is_right_everywhere_ends_the_run_after_one_pass_of_train() -> None:
    home = house(2, train_size=12, val=20, epochs=3)
    perfect = Skill.from_text(SEED_SKILL + "".join(f"\n- {rule.sentence}" for rule in RULES.rules) + "\n")
    lived = live(home.but(gate=ALIKE, plan=msgspec.structs.replace(home.plan, seed_skill=perfect)))
    assert lived.error is None
    assert (lived.summary.stop_reason, lived.summary.steps) == ("solved", 2)
    assert lived.summary.scores.baseline.val is not None
    assert lived.summary.scores.baseline.val.hard == 1.0


def test_a_cap_is_spent_on_the_skill_before_it_is_spent_on_the_report() -> None:
    home = house(4, val=40, epochs=1, test=0).but(gate=ALIKE)
    whole = live(home)
    end = [event.usage.calls for event in whole.events_of(PhaseEnded) if event.path.startswith("end/")]
    capped = live(home.at_once(7, calls=whole.summary.usage.total.calls - sum(end)))
    assert sum(end) > 0
    assert isinstance(capped.error, BudgetReachedError)
    assert capped.records == whole.records
    assert capped.summary.scores.baseline.val is None
