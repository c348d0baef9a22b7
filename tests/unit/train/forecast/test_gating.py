from __future__ import annotations

import pytest

from skillopt.phases.gate import GateSettings
from skillopt.train.forecast.gating import Change, hold, most_calls
from tests.unit.train.forecast.plans import setup

MENDED = Change(failing=0.5, still=0.0)
SAME = Change(failing=0.5, still=0.5)
WORSE = Change(failing=0.25, still=0.25, spoilt=0.5)
VAL = 16


def rollouts(gate: GateSettings, change: Change, val: int = VAL) -> tuple[bool, float]:
    held = hold(setup(sizes=(12, val, 4), gate=gate), 0.05, change)
    return held.accepted, held.calls["rollout"] if held.calls else 0


@pytest.mark.parametrize("rule", ["strict", "force"])
@pytest.mark.parametrize("change", [MENDED, SAME, WORSE])
def test_a_published_rule_measures_all_of_val_once(rule: str, change: Change) -> None:
    gate = GateSettings(rule="strict") if rule == "strict" else GateSettings(rule="force")
    assert rollouts(gate, change) == (rule == "force" or change is MENDED, VAL)


def test_the_paired_test_pays_for_the_bar_of_what_it_accepts() -> None:
    accepted, calls = rollouts(GateSettings(), MENDED)
    assert accepted
    assert calls == VAL + 3 * VAL
    accepted, calls = rollouts(GateSettings(known_trials=2), MENDED)
    assert accepted
    assert calls >= VAL + 2 * VAL


@pytest.mark.parametrize("change", [SAME, WORSE])
def test_the_paired_test_rejects_after_a_few_trials(change: Change) -> None:
    accepted, calls = rollouts(GateSettings(), change)
    assert not accepted
    assert 0 < calls < 2 * VAL


def test_what_cannot_be_shown_is_not_tried() -> None:
    assert rollouts(GateSettings(), Change(failing=0.0, still=0.0, spoilt=0.5)) == (False, 0)
    assert rollouts(GateSettings(), Change(failing=1.0, still=0.0), val=1) == (False, 0)


def test_a_small_val_is_decided_as_the_config_says() -> None:
    whole = Change(failing=1.0, still=0.0)
    assert rollouts(GateSettings(small_val="strict"), whole, val=1) == (True, 3)
    assert rollouts(GateSettings(small_val="soft"), whole, val=1)[1] > 0


def test_answers_that_do_not_vary_are_asked_for_once() -> None:
    gate = GateSettings(deterministic=True)
    assert rollouts(gate, MENDED) == (True, VAL)
    accepted, calls = rollouts(gate, WORSE)
    assert not accepted
    assert 0 < calls <= VAL


@pytest.mark.parametrize("gate", [GateSettings(), GateSettings(deterministic=True), GateSettings(metric="soft")])
@pytest.mark.parametrize("change", [MENDED, SAME, WORSE])
def test_no_gate_costs_more_than_the_most(gate: GateSettings, change: Change) -> None:
    ready = setup(sizes=(12, VAL, 4), gate=gate)
    assert rollouts(gate, change)[1] <= most_calls(ready)["rollout"]
