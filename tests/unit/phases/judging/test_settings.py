from __future__ import annotations

import pytest

from skillopt.phases.judging.settings import MOST_REPEATS, JudgeSettings


def test_the_defaults_ask_once_and_pass_from_the_published_mark() -> None:
    assert (JudgeSettings().repeats, JudgeSettings().mode, JudgeSettings().threshold) == (1, "score", 0.8)


@pytest.mark.parametrize("repeats", [0, -1, MOST_REPEATS + 1])
def test_repeats_have_bounds(repeats: int) -> None:
    with pytest.raises(ValueError, match=r"judge\.repeats"):
        JudgeSettings(repeats=repeats)


@pytest.mark.parametrize("threshold", [0.0, -0.1, 1.01])
def test_a_threshold_that_passes_all_or_none_is_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match=r"judge\.threshold"):
        JudgeSettings(threshold=threshold)
