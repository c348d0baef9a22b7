"""What holds for a run over an environment that uses every optional member: whatever the number of workers, wherever
it was killed; and that each member does what it says, where it may and nowhere else."""

from __future__ import annotations

import msgspec
import pytest

from skillopt.app.library.own import own_tasks
from skillopt.domain.tasks import Task
from skillopt.kernel.events import BatchGraded, Measured, PatchProposed, PhaseBegan
from skillopt.kernel.memory import MemoryShelf
from skillopt.phases.prompting import Prompts
from skillopt.testing.brains import BRAINS
from skillopt.testing.conversation import Brain, BrainReply, Conversation
from skillopt.testing.environments.office import OFFICE_PROMPTS, Office
from skillopt.testing.faults import FaultPlan
from tests.simulation.house import House, Lived, appends, house, live

SEEDS = range(1, 7)


class Heard:
    """A brain that keeps what it was asked."""

    def __init__(self, brain: Brain = BRAINS["rules"]) -> None:
        self._brain = brain
        self.asked: list[Conversation] = []

    def __call__(self, conversation: Conversation) -> BrainReply:
        """Answer as the brain does."""
        self.asked.append(conversation)
        return self._brain(conversation)


def home(seed: int, *, epochs: int = 2, feedback_turns: int = 2, val: int = 4) -> House:
    """Return a house whose environment is the office, on tasks that were drawn for it."""
    usual = house(seed, epochs=epochs)
    office = Office(seed, feedback_turns=feedback_turns, val=val, test=3)
    tasks = own_tasks(office, office, usual.plan.train, trains=True)
    plan = msgspec.structs.replace(usual.plan, tasks=tasks, drawn=True)
    return usual.but(environment=office, plan=plan, prompts=Prompts.replacing(OFFICE_PROMPTS))


def turns(lived: Lived) -> list[PhaseBegan]:
    return [began for began in lived.events_of(PhaseBegan) if "/feedback/" in began.path]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_number_of_workers_changes_nothing(seed: int) -> None:
    one = live(home(seed).at_once(1))
    for width in (2, 7, 64):
        assert live(home(seed).faulty(FaultPlan.random(seed, 0.2)).at_once(width)).lasting == one.lasting, width


@pytest.mark.parametrize("seed", SEEDS)
def test_a_crash_anywhere_changes_nothing(seed: int) -> None:
    whole = live(home(seed))
    count = appends(home(seed))
    for kill_at in range(1 + seed % 5, count, max(1, count // 12)):
        shelf = MemoryShelf()
        live(home(seed), shelf, kill_at=kill_at)
        again = live(home(seed), shelf)
        assert again.error is None
        assert (again.lasting, again.events) == (whole.lasting, whole.events), kill_at


@pytest.mark.parametrize("seed", SEEDS)
def test_every_turn_is_paid_once_and_only_in_training(seed: int) -> None:
    lived = live(home(seed))
    assert lived.summary.usage.total.calls == lived.served
    assert turns(lived)
    assert all(began.path.startswith("step_") and began.path.count("/") == 2 for began in turns(lived))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_score_is_that_of_the_first_answer(seed: int) -> None:
    talked, silent = live(home(seed)), live(home(seed, feedback_turns=1))
    first = [event.rows for lived in (talked, silent) for event in lived.events_of(BatchGraded)[:1]]
    assert first[0] == first[1]
    baselines = [lived.events_of(Measured)[0].rows for lived in (talked, silent)]
    assert baselines[0] == baselines[1]


@pytest.mark.parametrize("seed", SEEDS)
def test_an_epoch_has_the_same_batches_in_an_order_of_its_own(seed: int) -> None:
    plan = home(seed, epochs=6).plan
    epochs = [
        [batch.tasks for step in plan.steps() if step.epoch == epoch for batch in plan.batches(step)]
        for epoch in range(1, 7)
    ]
    assert all(sorted(map(_names, each)) == sorted(map(_names, epochs[0])) for each in epochs)
    assert len(epochs[0]) == 2
    assert sum(map(len, epochs[0])) == len(plan.tasks.train) == 12
    assert len({tuple(map(_names, each)) for each in epochs}) == 2


def _names(tasks: tuple[Task, ...]) -> tuple[str, ...]:
    return tuple(task.id for task in tasks)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_optimizer_sees_the_logbook_and_no_case(seed: int) -> None:
    heard = Heard()
    lived = live(home(seed).but(optimizer_brain=heard))
    reflections = [each for each in heard.asked if each.system.startswith("Task: reflect")]
    assert reflections
    for asked in reflections:
        assert "You lead an office" in asked.system
        assert "# The logbook" in asked.asked
        assert "[ref: " not in asked.asked
    assert {event.source for event in lived.events_of(PatchProposed)} >= {"failure", "merged"}


@pytest.mark.parametrize("seed", SEEDS)
def test_the_target_is_told_what_it_missed_and_mends_it(seed: int) -> None:
    heard = Heard()
    live(home(seed).but(target_brain=heard))
    further = [each for each in heard.asked if "Mind this rule" in each.asked]
    assert further
    assert all([turn.speaker for turn in each.turns][-2:] == ["assistant", "user"] for each in further)


def test_training_on_the_office_teaches_its_rules() -> None:
    lived = live(home(3, epochs=4, val=12))
    before, after = lived.summary.scores.baseline.val, lived.summary.scores.best.val
    assert before is not None
    assert after is not None
    assert (before.n, after.n) == (12, 12)
    assert before.hard == pytest.approx(1 / 12)
    assert after.hard == 1.0
