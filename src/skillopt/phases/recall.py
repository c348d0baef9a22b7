"""Words what a run remembers, so that the optimizer does not propose again what was tried.
Owns which memories are told, and their order; refuses to know who is told them."""

from __future__ import annotations

from skillopt.domain.progress.memory import Memory
from skillopt.phases.prompting import shortened

_STEPS_SHOWN = 8


def recalled(memory: Memory) -> list[str]:
    """Return the sections of a prompt that tell of earlier steps; none when there were none."""
    told = [
        f"- step {each.step}: {each.action}, {each.failed_tasks} of {each.tasks} tasks failed before it; edits: "
        + (" | ".join(shortened(edit, 200) for edit in each.edits) or "none")
        for each in memory.tried[-_STEPS_SHOWN:]
    ]
    advice = [f"# Advice from the last epoch\n\n{memory.advice}"] if memory.advice else []
    return [*advice, *(["# Earlier steps\n\n" + "\n".join(told)] if told else [])]
