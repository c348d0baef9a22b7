from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from skillopt.domain.tasks import Task
from skillopt.testing.brains import BRAINS
from skillopt.testing.conversation import BrainReply, Conversation
from skillopt.train.settings import StopSettings, TestedSkill
from tests.simulation.house import House, house, live

SLOTS = 64


class Ears:
    """Hears what both models are asked, in order."""

    def __init__(self) -> None:
        self.heard: list[Conversation] = []

    def __call__(self, conversation: Conversation) -> BrainReply:
        """Remember what was asked, and answer as usual."""
        self.heard.append(conversation)
        return BRAINS["rules"](conversation)

    def until_the_optimizer(self) -> list[str]:
        """Return what the target was asked before anybody else was."""
        first = next(index for index, each in enumerate(self.heard) if each.role == "optimizer")
        return [each.asked for each in self.heard[:first]]

    def after_the_optimizer(self, count: int) -> list[Conversation]:
        """Return so many questions to the target that came after the optimizer's first."""
        first = next(index for index, each in enumerate(self.heard) if each.role == "optimizer")
        return [each for each in self.heard[first:] if each.role == "target"][:count]


def asked(tasks: Sequence[Task]) -> list[str]:
    return [str(task.input) for task in tasks]


def heard(home: House, speculation: int = 0) -> Ears:
    ears = Ears()
    limits = msgspec.structs.replace(home.limits, concurrency=SLOTS, speculation=speculation)
    assert live(home.but(target_brain=ears, optimizer_brain=ears, limits=limits)).error is None
    return ears


def planned(home: House, **changes: object) -> House:
    return home.but(plan=msgspec.structs.replace(home.plan, **changes))


def test_the_first_step_and_the_first_test_do_not_wait_for_the_baseline() -> None:
    home = house(6)
    plan = home.plan
    first = heard(home).until_the_optimizer()
    batch = asked(plan.tasks_of(plan.step(1)))
    assert first[: len(batch)] == batch
    assert first[len(batch) :] == [*asked(plan.val), *asked(plan.tasks.test)]


@pytest.mark.parametrize("stop", [StopSettings(target=1.0), StopSettings(patience=9, target=0.9)])
def test_a_run_that_the_baseline_may_end_begins_no_step_before_it(stop: StopSettings) -> None:
    home = planned(house(6), stop=stop)
    plan = home.plan
    assert heard(home).until_the_optimizer() == [
        *asked(plan.val),
        *asked(plan.tasks.test),
        *asked(plan.tasks_of(plan.step(1))),
    ]


@pytest.mark.parametrize("test", [("best",), ("last", "best"), ()])
def test_a_skill_that_is_not_tested_is_not_tested_early_either(test: tuple[TestedSkill, ...]) -> None:
    home = planned(house(6), test=test)
    assert not set(asked(home.plan.tasks.test)) & set(heard(home).until_the_optimizer())


def test_while_the_optimizer_thinks_the_next_step_is_guessed_with_the_same_skill() -> None:
    home = house(6)
    plan = home.plan
    guessed = heard(home, speculation=6).after_the_optimizer(6)
    assert [each.asked for each in guessed] == asked(plan.tasks_of(plan.step(2)))
    assert {plan.seed_skill.text.strip() in each.system for each in guessed} == {True}


def test_with_more_guesses_the_candidates_next_questions_follow() -> None:
    home = house(6)
    plan = home.plan
    after = heard(home, speculation=12).after_the_optimizer(12 + len(plan.val))
    with_the_seed = {each.asked for each in after if each.system == after[0].system}
    with_the_candidate = {each.asked for each in after if each.system != after[0].system}
    assert set(asked(plan.tasks_of(plan.step(2)))) <= with_the_seed & with_the_candidate


def test_in_the_last_step_the_final_test_is_guessed() -> None:
    home = planned(house(6, epochs=1), test=("best", "last"))
    last = home.plan.step(home.plan.total_steps)
    home = planned(home, stop=StopSettings(when="never"))
    heard_all = heard(home, speculation=100).heard
    tests = asked(home.plan.tasks.test)
    positions = [index for index, each in enumerate(heard_all) if each.asked in tests]
    optimizers = [index for index, each in enumerate(heard_all) if each.role == "optimizer"]
    assert last.number == 2
    assert positions[0] > optimizers[0]
    assert positions[0] < len(heard_all) - len(tests), "before the run comes to its end"
