from __future__ import annotations

import msgspec
import pytest

from skillopt.domain.tasks import TaskSet
from skillopt.kernel.events import (
    Measured,
    PhaseBegan,
)
from skillopt.testing.environments.office import Office
from tests.simulation.house import Lived, house, live


@pytest.fixture(scope="module")
def lived() -> Lived:
    return live(house(14))


def test_what_is_measured_has_a_row_for_each_task(lived: Lived) -> None:
    for measured in lived.events_of(Measured):
        assert len(measured.rows) == measured.mean.n + measured.mean.failed == 8
        assert sum(mean.n for mean in measured.by_type.values()) == 8


def test_an_environment_answers_back_in_training_only() -> None:
    office = Office(14, val=4, test=2)
    home = house(14, epochs=1)
    tasks = TaskSet(train=office.draw(1, 12), val=office.tasks.val, test=office.tasks.test)
    talked = live(home.but(environment=office, plan=msgspec.structs.replace(home.plan, tasks=tasks)))
    paths = [began.path for began in talked.events_of(PhaseBegan) if "feedback" in began.path]
    assert paths == [f"step_000{step}/feedback/turn_{turn}" for step in (1, 2) for turn in (1, 2)]
