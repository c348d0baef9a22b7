"""The scrubber of this machine, and what it does to a person's own files before anything is made of them.
Owns where needles come from; refuses to keep or show one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from skillopt.app.environ import is_reference, resolve_reference, variables
from skillopt.domain.errors import UsageError
from skillopt.domain.scrub import Scrubber, needles_from
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import SplitName, Task, TaskSet
from skillopt.domain.texts import with_texts

Scrub = Callable[[str], str]
_NAMED = 5


def scrubber(references: Sequence[str] = ()) -> Scrubber:
    """Return the scrubber for all that is recorded in this process; what a reference stands for is a secret too."""
    environ = variables()
    values = [value for reference in references if (value := _value(reference)) is not None]
    return Scrubber((*needles_from(environ), *values))


def scrubbed_skill(skill: Skill, scrub: Scrub) -> tuple[Skill, tuple[str, ...]]:
    """Return the skill without secrets, and a warning for each file that had one."""
    warnings = []
    for file in skill.files:
        text = scrub(file.text)
        if text != file.text:
            skill = skill.with_file(file.path, text)
            warnings.append(f"The skill's {file.path} holds what looks like a secret. {_REPLACED}")
    return skill, tuple(warnings)


def scrubbed_tasks(tasks: TaskSet, scrub: Scrub) -> TaskSet:
    """Return the tasks without secrets, with a warning that names those that had one.

    Done before anything is asked, so that a target never learns a secret, and an answer is compared with a reference
    that went through the same scrubber.
    """
    splits = {split.value: tuple(_scrubbed(task, scrub) for task in tasks.of(split)) for split in SplitName}
    changed = [
        new.id
        for split in SplitName
        for new, old in zip(splits[split.value], tasks.of(split), strict=True)
        if new != old
    ]
    warnings = tuple(scrub(warning) for warning in tasks.warnings)
    if changed:
        names = ", ".join(changed[:_NAMED]) + (f" and {len(changed) - _NAMED} more" if changed[_NAMED:] else "")
        warnings = (*warnings, f"What looks like a secret stands in tasks {names}. {_REPLACED}")
    return TaskSet(**splits, warnings=warnings)


_REPLACED = "A token such as [SECRET:environment:1a2b] takes its place in this run."


def _scrubbed(task: Task, scrub: Scrub) -> Task:
    """Return the task with every text in it scrubbed, but for the names of its files."""
    return msgspec.structs.replace(with_texts(task, scrub), files=task.files, images=task.images)


def _value(reference: str) -> str | None:
    """Return what a reference stands for; one that stands for nothing is said when the key is needed."""
    try:
        return resolve_reference(reference) if is_reference(reference) else None
    except UsageError:
        return None
