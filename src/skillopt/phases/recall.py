"""Words what a run remembers, so that the optimizer does not propose again what was tried.
Owns which memories are told, and their order; refuses to know who is told them."""

from __future__ import annotations

from skillopt.domain.progress.memory import Memory, Tried
from skillopt.phases.prompting import shortened

STEPS_SHOWN = 8
_CHANGES_SHOWN = 6
_PATTERNS_SHOWN = 5
_TESTED = frozenset({"accepted", "rejected", "inconclusive"})


def recalled(memory: Memory) -> list[str]:
    """Return the sections of a prompt that tell of earlier steps, advice first; none when there were none."""
    return [*advised(memory), *earlier_steps(memory)]


def advised(memory: Memory) -> list[str]:
    """Return the section with the advice drawn from the last epoch, if there is any."""
    return [f"# Advice from the last epoch\n\n{memory.advice}"] if memory.advice else []


def earlier_steps(memory: Memory) -> list[str]:
    """Return the section that tells what was tried, and what came of it."""
    told = [_told(each, elsewhere=memory.is_elsewhere(each)) for each in memory.tried[-STEPS_SHOWN:]]
    return ["# Earlier steps\n\n" + "\n".join(told)] if told else []


def _told(tried: Tried, *, elsewhere: bool) -> str:
    lines = [f"- step {tried.step}: {tried.action}, {tried.failed_tasks} of {tried.tasks} tasks failed before it"]
    if tried.candidate is not None and tried.incumbent is not None:
        lines[0] += f"; the gate measured {tried.incumbent:.3f} before and {tried.candidate:.3f} with it"
    if tried.won is not None and tried.lost is not None:
        lines[0] += f"; of the tasks the gate tried, {tried.won} went better with it and {tried.lost} worse"
    if elsewhere:
        lines[0] += "; what was accepted is in another version of the skill and not in this one"
    lines += [f"  - failures seen: {shortened(seen.words, 200)}" for seen in tried.patterns[:_PATTERNS_SHOWN]]
    others = sum(1 for change in tried.changes if change.fate in _TESTED) - 1
    together = f" together with {others} more" if others > 0 else ""
    for change in tried.changes[:_CHANGES_SHOWN]:
        joint = together if change.fate in _TESTED else ""
        why = f" ({change.why})" if change.why else ""
        lines.append(f"  - {change.fate}{joint}{why}: {shortened(change.words, 200)}")
    more = len(tried.changes) - _CHANGES_SHOWN
    if more > 0:
        lines.append(f"  - and {more} more changes")
    return "\n".join(lines)
