"""The estimate of a run before it starts, held against the run: on seeds and plans that it was not made from."""

from __future__ import annotations

import sys

import pytest

from skillopt.domain.skill import Skill
from skillopt.phases.reflect import ReflectSettings
from skillopt.testing.worlds import hidden_rules_world, rules_world
from skillopt.train.forecast.calls import Setup, least, most, walk
from skillopt.train.forecast.course import Begun, courses
from skillopt.train.plan import Plan
from skillopt.train.settings import OptimizerSettings, TrainSettings
from tests.simulation.house import SEED_SKILL, House, dataset, live

WORLDS = {"rules": rules_world, "hidden-rules": hidden_rules_world}
# train, val and test tasks, epochs, batch size; the usual course was drawn from seeds 1 to 4
PLANS = (
    ((24, 16, 24), 4, 8),
    ((80, 40, 40), 2, 20),
    ((40, 40, 40), 4, 40),
    ((80, 40, 40), 4, 10),
    ((60, 30, 20), 3, 15),
    ((80, 40, 40), 1, 10),
)
SEEDS = range(21, 29)
NEAR = 0.2
MOSTLY = 0.9


def house_of(world: str, seed: int, sizes: tuple[int, int, int], epochs: int, batch_size: int) -> House:
    environment = dataset(WORLDS[world](seed, *sizes))
    plan = Plan(
        seed_skill=Skill.from_text(SEED_SKILL),
        tasks=environment.tasks,
        train=TrainSettings(epochs=epochs, batch_size=batch_size, seed=seed),
        optimizer=OptimizerSettings(edit_budget=4, min_edit_budget=2),
    )
    return House(environment=environment, plan=plan, target_brain=world, optimizer_brain=world, latency=0.0)


@pytest.mark.parametrize("world", WORLDS)
def test_nine_runs_in_ten_cost_what_was_said_within_a_fifth(world: str) -> None:
    near, tried, rejects = 0, 0, 0
    for seed in SEEDS:
        for sizes, epochs, batch_size in PLANS:
            home = house_of(world, seed, sizes, epochs, batch_size)
            setup = Setup(plan=home.plan, reflect=ReflectSettings(minibatch_size=3), gate=home.gate)
            low, high = least(setup, Begun()).total, most(setup, Begun()).total
            ways = [walk(setup, way, Begun()).total for way in courses(Begun(), None)]
            likely = sum(ways) / len(ways)
            summary = live(home).summary
            calls = summary.usage.total.calls
            assert low <= calls <= high, f"{world}, seed {seed}, {sizes}: {calls} is not within {low} and {high}"
            near += abs(likely / calls - 1) <= NEAR
            tried += 1
            rejects += summary.rejects
    sys.stdout.write(f"{world}: {near} of {tried} runs within {NEAR:.0%} of the estimate, {rejects} rejects\n")
    assert near >= MOSTLY * tried
