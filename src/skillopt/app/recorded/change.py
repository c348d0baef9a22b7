"""Reads what a run, or one step of it, made of a skill.
Owns which two skills are held against each other; refuses to know how a difference is shown."""

from __future__ import annotations

from pathlib import Path

import msgspec

from skillopt.app.runs import summary_of
from skillopt.app.workspace import JOURNAL
from skillopt.domain.errors import UsageError, unknown_name
from skillopt.domain.skill.content import cautions
from skillopt.kernel.events import SkillKept
from skillopt.kernel.view import RunView, view_of, whole
from skillopt.store.reader import SqliteReader
from skillopt.train.pages.changes import diff_lines


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A difference of two skills, what a person should look at twice, and what the gate said of it."""

    run: str
    step: int | None
    action: str
    reason: str
    diff: tuple[str, ...]
    warnings: tuple[str, ...]


def change_of(workspace: Path, name: str, step: int | None) -> Change:
    """Return what led from the seed to the best skill of a run, or what one step proposed, kept or not."""
    summary_of(workspace, name)  # refuses an unknown name
    with SqliteReader(workspace / JOURNAL) as reader:
        view = view_of(whole(reader.events(name)))
    if view.began is None:
        raise UsageError(f"Run {name!r} trained nothing.", hint="Name a run of skillopt train.")
    if step is None:
        ended = [each.ended for each in view.finished_steps if each.ended is not None]
        seed = view.began.skill_digest
        return _change(view, name, seed, ended[-1].best_digest if ended else seed)
    steps = {each.began.step: each for each in view.finished_steps}
    if step not in steps:
        raise unknown_name("step", str(step), map(str, steps))
    wanted = steps[step]
    after = wanted.began.skill_digest if wanted.candidate is None else wanted.candidate.skill_digest
    found = _change(view, name, wanted.began.skill_digest, after)
    gate = wanted.gate
    return msgspec.structs.replace(
        found, step=step, action="" if gate is None else gate.action, reason="" if gate is None else gate.reason
    )


def _change(view: RunView, name: str, before: str, after: str) -> Change:
    old, new = _files(view.skills.get(before)), _files(view.skills.get(after))
    added = "\n".join(_added(old, new))
    return Change(
        run=name,
        step=None,
        action="",
        reason="",
        diff=diff_lines(old, new),
        warnings=cautions(added, "\n".join(old.values())),
    )


def _files(kept: SkillKept | None) -> dict[str, str]:
    """Return the texts of a skill; one that was never measured has none."""
    return {} if kept is None else kept.files


def _added(old: dict[str, str], new: dict[str, str]) -> list[str]:
    return [
        line
        for path, text in new.items()
        for line in text.splitlines()
        if path not in old or line not in old[path].splitlines()
    ]
