from __future__ import annotations

import pytest

from skillopt.domain.errors import UnavailableError
from skillopt.kernel.events import (
    RunEnded,
    StepEnded,
)
from skillopt.phases.gate import GateSettings
from skillopt.testing.conversation import BrainReply
from skillopt.testing.faults import FaultKind, FaultPlan
from tests.simulation.house import Lived, house, live


@pytest.fixture(scope="module")
def lived() -> Lived:
    return live(house(14))


def test_the_last_skill_is_the_incumbent_and_the_best_is_the_best(lived: Lived) -> None:
    (ended,) = lived.events_of(RunEnded)
    last = lived.events_of(StepEnded)[-1]
    assert (ended.last_digest, ended.best_digest) == (last.skill_digest, last.best_digest)
    assert lived.best == lived.view.skills[last.best_digest].files["SKILL.md"]
    assert ended.claimed_val is None, "a score that chose the winner is not claimed for it"


def test_a_seed_that_was_never_beaten_may_claim_its_score() -> None:
    nothing = BrainReply(text='{"patch": {"reasoning": "Fine as it is.", "edits": []}}')
    (ended,) = live(house(2).but(optimizer_brain=lambda _: nothing)).events_of(RunEnded)
    assert ended.best_origin == "initial_skill"
    assert ended.claimed_val is not None


@pytest.mark.parametrize("kind", [FaultKind.CONTEXT, FaultKind.LENGTH, FaultKind.FILTERED])
def test_a_target_that_answers_nothing_on_val_ends_the_run(kind: FaultKind) -> None:
    silent = live(house().but(target_faults=FaultPlan.always(kind)))
    assert isinstance(silent.error, UnavailableError)
    assert "8 val tasks" in silent.error.message
    assert silent.optimizer.calls == 0


def test_so_does_one_whose_silence_on_val_is_only_met_at_the_end() -> None:
    gate = GateSettings(deterministic=True)
    silent = live(house(train_size=6, epochs=1).but(target_faults=FaultPlan.always(FaultKind.CONTEXT), gate=gate))
    assert isinstance(silent.error, UnavailableError)
    assert "val tasks has a score (ContextTooLongError)" in silent.error.message
