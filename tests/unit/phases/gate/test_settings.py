from __future__ import annotations

from skillopt.phases.gate import GateSettings


def test_only_answers_that_vary_are_asked_for_more_than_once() -> None:
    assert GateSettings().trials == 3
    assert GateSettings(deterministic=True).trials == GateSettings(rule="strict").trials == 1


def test_how_certain_a_gate_can_be_is_known_before_it_starts() -> None:
    assert GateSettings(rule="strict").smallest_p(40) is None
    assert GateSettings(deterministic=True).smallest_p(5) == 2**-5
    certain = GateSettings().smallest_p(40)
    assert certain is not None
    assert certain < 1e-20
