"""skillopt trains the skill document of a frozen LLM agent and keeps only changes that a held-out gate accepts.

The public names load when they are first used, so that `import skillopt` stays light."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillopt.app.library.calls import aevaluate, aoptimize, evaluate, optimize
    from skillopt.app.library.results import Evaluated, Optimized
    from skillopt.domain.scores import Score
    from skillopt.domain.skill import Skill
    from skillopt.domain.tasks import Check, Task
    from skillopt.environments.grading import grade

__version__ = "0.1.0"
__all__ = [
    "Check",
    "Evaluated",
    "Optimized",
    "Score",
    "Skill",
    "Task",
    "__version__",
    "aevaluate",
    "aoptimize",
    "evaluate",
    "grade",
    "optimize",
]
_NOUNS = frozenset({"Check", "Score", "Skill", "Task"})


def __getattr__(name: str) -> object:
    """Load a public name; the nouns alone cost little."""
    if name not in __all__:
        raise AttributeError(f"module 'skillopt' has no attribute {name!r}")
    if name in _NOUNS:
        from skillopt.domain.scores import Score
        from skillopt.domain.skill import Skill
        from skillopt.domain.tasks import Check, Task

        return {noun.__name__: noun for noun in (Check, Score, Skill, Task)}[name]
    if name == "grade":
        from skillopt.environments.grading import grade

        return grade
    from skillopt.app.library import calls, results

    return getattr(results if name in {"Evaluated", "Optimized"} else calls, name)


def __dir__() -> list[str]:
    return sorted(__all__)
