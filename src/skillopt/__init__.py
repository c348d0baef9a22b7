"""skillopt trains the skill document of a frozen LLM agent and keeps only changes that a held-out gate accepts.

The public names load when they are first used, so that `import skillopt` stays light."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillopt.domain.scores import Score
    from skillopt.domain.skill import Skill
    from skillopt.domain.tasks import Task

__version__ = "0.1.0"
__all__ = ["Score", "Skill", "Task", "__version__"]


def __getattr__(name: str) -> object:
    """Load a public noun."""
    if name not in __all__:
        raise AttributeError(f"module 'skillopt' has no attribute {name!r}")
    from skillopt.domain.scores import Score
    from skillopt.domain.skill import Skill
    from skillopt.domain.tasks import Task

    return {noun.__name__: noun for noun in (Score, Skill, Task)}[name]


def __dir__() -> list[str]:
    return sorted(__all__)
