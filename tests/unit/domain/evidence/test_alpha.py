from __future__ import annotations

import pytest

from skillopt.domain.evidence.alpha import LOOK_SHARES, Spending, look_alpha, peek_alpha


def test_a_gate_spends_no_more_than_its_alpha() -> None:
    looks = sum(look_alpha(0.05, look) for look in range(1, len(LOOK_SHARES) + 1))
    assert looks + sum(peek_alpha(0.05, peek) for peek in range(60)) <= 0.05 + 1e-12


def test_alpha_for_each_gate_is_alpha_whatever_happened_before() -> None:
    assert {Spending().at(number, (1, 2)) for number in range(1, 50)} == {0.05}


@pytest.mark.parametrize("horizon", [1, 4, 30])
def test_alpha_for_a_run_is_not_used_up_however_many_gates_there_are(horizon: int) -> None:
    spending = Spending(control="run", horizon=horizon)
    assert sum(spending.at(number, ()) for number in range(1, 5000)) <= 0.05
    assert sum(spending.at(number, ()) for number in range(1, horizon + 1)) >= 0.05 / 2


def test_the_false_discovery_rate_s_alpha_is_earned_back_with_each_accept() -> None:
    spending = Spending(control="fdr")
    assert sum(spending.at(number, ()) for number in range(1, 5000)) <= 0.05 / 2
    for number in range(4, 40):
        assert spending.at(number, (3,)) > spending.at(number, ())
        assert spending.at(number, (2, 3)) > spending.at(number, (2,))
    for accepts in range(6):
        spent = sum(
            spending.at(number, tuple(a for a in range(1, accepts + 1) if a < number)) for number in range(1, 5000)
        )
        assert spent <= 0.05 * max(1, accepts)
