"""skillopt trains the skill document of a frozen LLM agent and keeps only changes that a held-out gate accepts.

The public names load when they are first used, so that `import skillopt` stays light."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillopt.domain.scores import Score
    from skillopt.domain.skill import Skill
    from skillopt.domain.tasks import Check, Task
    from skillopt.environments.grading import grade

__version__ = "0.1.0"
__all__ = ["Check", "Score", "Skill", "Task", "__version__", "grade"]


def __getattr__(name: str) -> object:
    """Load a public name."""
    if name not in __all__:
        raise AttributeError(f"module 'skillopt' has no attribute {name!r}")
    from skillopt.domain.scores import Score
    from skillopt.domain.skill import Skill
    from skillopt.domain.tasks import Check, Task
    from skillopt.environments.grading import grade

    return {each.__name__: each for each in (Check, Score, Skill, Task, grade)}[name]


def __dir__() -> list[str]:
    return sorted(__all__)
