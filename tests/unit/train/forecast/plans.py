"""Plans and starts for the tests of the forecast."""

from __future__ import annotations

from skillopt.domain.skill import Skill
from skillopt.domain.tasks import Task, TaskSet
from skillopt.phases.consolidate.slow_update import SlowUpdateSettings
from skillopt.phases.gate import GateSettings
from skillopt.phases.reflect import ReflectSettings
from skillopt.train.forecast.calls import Setup
from skillopt.train.plan import Plan
from skillopt.train.settings import OptimizerSettings, SearchSettings, StopSettings, TestedSkill, TrainSettings


def setup(
    *,
    sizes: tuple[int, int, int] = (12, 5, 4),
    epochs: int = 2,
    batch_size: int = 6,
    stop: StopSettings = StopSettings(),
    guided: bool = False,
    search: SearchSettings = SearchSettings(),
    test: tuple[TestedSkill, ...] = ("initial", "best", "last"),
    optimizer: OptimizerSettings | None = None,
    gate: GateSettings = GateSettings(rule="strict"),
) -> Setup:
    """Return a plan over tasks of these sizes: two steps an epoch unless told otherwise."""
    train, val, tested = (
        tuple(Task(id=f"{split}-{n}", input="x" * 40, reference="y") for n in range(size))
        for split, size in zip(("train", "val", "test"), sizes, strict=True)
    )
    plan = Plan(
        seed_skill=Skill.from_text("# Skill\n"),
        tasks=TaskSet(train=train, val=val, test=tested),
        train=TrainSettings(epochs=epochs, batch_size=batch_size),
        search=search,
        stop=stop,
        optimizer=optimizer or OptimizerSettings(slow_update=SlowUpdateSettings(enabled=guided), meta_skill=guided),
        test=test,
    )
    return Setup(plan=plan, reflect=ReflectSettings(minibatch_size=4), gate=gate)
