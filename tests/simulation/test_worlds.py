"""Whole runs in the worlds whose truth is known, in virtual time: what is kept, and what the optimizer is shown."""

from __future__ import annotations

import msgspec
import pytest

from benchmarks.worlds.leaks import leaks
from skillopt.domain.skill import Skill
from skillopt.kernel.limits.terms import LimitSettings
from skillopt.phases.gate import GateSettings
from skillopt.testing.brains import BRAINS
from skillopt.testing.conversation import BrainReply, Conversation
from skillopt.testing.worlds import WorldTasks, hidden_rules_world, memorising_world
from skillopt.train.plan import Plan
from skillopt.train.settings import OptimizerSettings, TrainSettings
from tests.simulation.house import SEED_SKILL, House, Lived, dataset, house, live


class Prompts:
    """A brain that remembers what the optimizer was shown."""

    def __init__(self, brain: str) -> None:
        self._brain = BRAINS[brain]
        self.shown: list[str] = []

    def __call__(self, conversation: Conversation) -> BrainReply:
        """Remember the prompt and answer as usual."""
        self.shown.append(conversation.everything)
        return self._brain(conversation)


def in_world(brain: str, world: WorldTasks, seed: int, optimizer: Prompts) -> House:
    environment = dataset(world)
    plan = Plan(
        seed_skill=Skill.from_text(SEED_SKILL),
        tasks=environment.tasks,
        train=TrainSettings(epochs=3, batch_size=10, seed=seed),
        optimizer=OptimizerSettings(edit_budget=4, min_edit_budget=2),
    )
    limits = LimitSettings(concurrency=24, speculation=seed % 2 * 20)
    return House(environment=environment, plan=plan, target_brain=brain, optimizer_brain=optimizer, limits=limits)


RULES = (GateSettings(), GateSettings(rule="strict"), GateSettings(deterministic=True))


@pytest.mark.parametrize("gate", RULES, ids=("paired", "strict", "alike"))
@pytest.mark.parametrize("seed", range(1, 6))
def test_nothing_is_learned_by_heart_and_nothing_of_val_or_test_is_shown(seed: int, gate: GateSettings) -> None:
    prompts, world = Prompts("memorising"), memorising_world(seed, 40, 20, 20)
    lived = live(in_world("memorising", world, seed, prompts).but(gate=gate))
    assert lived.error is None, f"seed {seed}"
    assert (lived.summary.accepts, lived.best) == (0, SEED_SKILL), f"seed {seed}"
    assert len(prompts.shown) >= lived.summary.steps, f"seed {seed}"
    assert list(leaks(prompts.shown, (*world.val, *world.test))) == [], f"seed {seed}"
    assert list(leaks(prompts.shown, world.train)), "the search finds what is there"


@pytest.mark.parametrize("gate", RULES, ids=("paired", "strict", "alike"))
@pytest.mark.parametrize("seed", range(1, 6))
def test_the_hidden_rules_are_found_without_a_look_at_val_or_test(seed: int, gate: GateSettings) -> None:
    prompts, world = Prompts("hidden-rules"), hidden_rules_world(seed)
    lived = live(in_world("hidden-rules", world, seed, prompts).but(gate=gate))
    test = lived.summary.scores.best.test
    assert test is not None
    assert test.hard == 1.0, f"seed {seed}"
    assert list(leaks(prompts.shown, (*world.val, *world.test))) == [], f"seed {seed}"


def every_prompt(lived: Lived, prompts: Prompts, home: House) -> list[str]:
    held_out = (*home.plan.tasks.val, *home.plan.tasks.test)
    assert lived.error is None
    return list(leaks(prompts.shown, held_out))


@pytest.mark.parametrize("seed", range(1, 21))
def test_no_prompt_of_the_small_house_shows_what_decides(seed: int) -> None:
    prompts = Prompts("rules")
    home = house(seed).but(optimizer_brain=prompts)
    assert every_prompt(live(home), prompts, home) == [], f"seed {seed}"
    settings = msgspec.structs.replace(home.plan.train, accumulation=2)
    home = home.but(plan=msgspec.structs.replace(home.plan, train=settings))
    assert every_prompt(live(home), prompts, home) == [], f"seed {seed}"
