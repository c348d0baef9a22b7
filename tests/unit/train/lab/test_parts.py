from __future__ import annotations

import pytest

from skillopt.kernel.events import (
    CandidateMade,
    Measured,
    SkillKept,
)
from tests.simulation.house import Lived, house, live


@pytest.fixture(scope="module")
def lived() -> Lived:
    return live(house(14))


def test_a_skill_is_told_once_and_before_anything_names_it(lived: Lived) -> None:
    told: list[str] = []
    for event in lived.events:
        if isinstance(event, SkillKept):
            told.append(event.digest)
        elif isinstance(event, Measured | CandidateMade):
            assert event.skill_digest in told
    assert len(told) == len(set(told))
