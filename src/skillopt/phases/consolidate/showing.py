"""Words a comparison of two skills for the optimizer: the losses first, and no more text than fits.
Owns what is shown of a pair; refuses to know what is asked about it."""

from __future__ import annotations

from collections.abc import Iterator

from skillopt.domain.skill import Skill
from skillopt.phases.consolidate.pairs import CATEGORIES, Category, Comparison, Pair, Told, counted
from skillopt.phases.prompting import shortened

_MOST_CHARACTERS = 80_000  # all pairs together: about a sixth of the smallest window that is in use
_FEWEST_CHARACTERS = 200
_TITLES: dict[Category, str] = {
    "regressed": "right before, wrong now",
    "persistent_fail": "wrong before and now",
    "improved": "wrong before, right now",
    "stable_success": "right before and now",
}


def both_skills(before: Skill, now: Skill) -> list[str]:
    """Return the sections of a prompt that show two skills, the one in use last."""
    return [
        f'# The skill an epoch ago\n\n<skill when="before">\n{before.rendered}\n</skill>',
        f'# The skill now\n\n<skill when="now">\n{now.rendered}\n</skill>',
    ]


def compared(comparison: Comparison, characters: int) -> list[str]:
    """Return the sections of a prompt that show the pairs; about `characters` of each, fewer where there are many."""
    kept = comparison.kept
    counts = "\n".join(f"- {_TITLES[category]}: {count}" for category, count in counted(kept).items())
    limit = max(_FEWEST_CHARACTERS, min(characters, _MOST_CHARACTERS // max(1, len(kept)))) // 3
    return [f"# The same tasks with both skills\n\n{counts}", *_pairs(kept, limit)]


def _pairs(pairs: tuple[Pair, ...], limit: int) -> Iterator[str]:
    ordered = sorted(pairs, key=lambda pair: CATEGORIES.index(pair.category))
    for number, pair in enumerate(ordered, 1):
        task = pair.task
        asked = task.input if isinstance(task.input, str) else "\n".join(turn.content for turn in task.input)
        parts = [f"## Task {number}: {_TITLES[pair.category]}" + (f" ({task.type})" if task.type else "")]
        question = asked if task.context is None else f"{task.context}\n\n{asked}"
        parts.append(shortened(task.noting_images(question), limit))
        if pair.category != "stable_success":
            parts += [*_answer("before", pair.before, limit), *_answer("now", pair.after, limit)]
        yield "\n\n".join(parts)


def _answer(when: str, told: Told, limit: int) -> Iterator[str]:
    yield f"### Answer {when}\n\n{shortened(told.text, limit)}"
    if told.score.feedback:
        yield f"### What grading found {when}\n\n{shortened(told.score.feedback, limit)}"
