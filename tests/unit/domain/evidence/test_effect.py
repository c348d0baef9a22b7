from __future__ import annotations

import pytest

from skillopt.domain.evidence.effect import clearly_worse, effect_of


def test_the_effect_is_the_mean_with_its_standard_error() -> None:
    effect = effect_of([1.0, 0.0, 0.0, 1.0])
    assert effect is not None
    assert (effect.mean, effect.tasks) == (0.5, 4)
    assert effect.error == pytest.approx(0.288675, abs=1e-6)
    assert effect.low < 0.5 < effect.high == 1.0


@pytest.mark.parametrize(
    ("differences", "gained"),
    [([1.0, 1.0], True), ([0.0, 0.0], False), ([1.0, -1.0], False), ([1.0, 0.0], False), ([1.0, 1.0, 0.0, 0.0], True)],
)
def test_a_gain_is_more_than_one_standard_error(differences: list[float], gained: bool) -> None:
    effect = effect_of(differences)
    assert effect is not None
    assert effect.gained is gained


def test_one_task_has_no_error_and_so_no_effect() -> None:
    assert effect_of([1.0]) is None
    assert effect_of([]) is None


def test_a_few_equal_answers_do_not_look_like_certainty() -> None:
    assert clearly_worse([(24, [-0.2] * 8), (16, [-1.0] * 4)])
    assert not clearly_worse([(40, [-0.1])])
    assert not clearly_worse([(24, [0.1] * 8), (16, [0.0] * 4)])
