from __future__ import annotations

import pytest

from skillopt.kernel.events import (
    Measured,
)
from tests.simulation.house import Lived, house, live


@pytest.fixture(scope="module")
def lived() -> Lived:
    return live(house(14))


def test_what_is_measured_has_a_row_for_each_task(lived: Lived) -> None:
    for measured in lived.events_of(Measured):
        assert len(measured.rows) == measured.mean.n + measured.mean.failed == 8
        assert sum(mean.n for mean in measured.by_type.values()) == 8
