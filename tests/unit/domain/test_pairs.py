from __future__ import annotations

import itertools

import pytest

from skillopt.domain.pairs import paired, sign_test


def test_only_tasks_of_both_sides_count() -> None:
    found = paired({"a": 0.0, "b": 1.0, "c": 0.5, "old": 1.0}, {"a": 1.0, "b": 1.0, "c": 0.0, "new": 0.0})
    assert found is not None
    assert (found.n, found.better, found.worse) == (3, 1, 1)
    assert found.difference == pytest.approx(0.5 / 3)
    assert paired({"a": 1.0}, {"b": 1.0}) is None


@pytest.mark.parametrize(("better", "worse"), list(itertools.product(range(7), repeat=2)))
def test_p_is_the_share_of_coin_tosses_at_least_as_far_apart(better: int, worse: int) -> None:
    n = better + worse
    tosses = [sum(toss) for toss in itertools.product((0, 1), repeat=n)]
    as_far = sum(1 for heads in tosses if abs(2 * heads - n) >= abs(better - worse))
    assert sign_test(better, worse) == pytest.approx(as_far / len(tosses))


def test_large_counts_stay_numbers() -> None:
    assert 0.0 <= sign_test(3000, 2000) < 1e-9
    assert sign_test(2500, 2500) == 1.0


def test_many_comparisons_need_more() -> None:
    six = paired(dict.fromkeys("abcdef", 0.0), dict.fromkeys("abcdef", 1.0))
    assert six is not None
    assert six.p == pytest.approx(2 / 64)
    assert six.beyond_noise()
    assert not six.beyond_noise(comparisons=2)
