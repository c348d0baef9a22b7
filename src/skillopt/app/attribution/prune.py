"""One session of a pruning: opens its run, prunes, and writes the pruned skill beside what was measured.
Owns the folder of such a run; never writes to the skill it was given, and refuses to know how passages are tried."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path

import msgspec

from skillopt.app.project.prepare import Prepared
from skillopt.app.session import Opened, Started, ending_of, interrupt_of, opened, reason_of, status_of
from skillopt.domain.errors import SkilloptError, StoreError
from skillopt.domain.skill import Skill
from skillopt.domain.usage import NOTHING
from skillopt.kernel.journal import Journal
from skillopt.kernel.ports import Clock
from skillopt.kernel.view import RunView, view_of
from skillopt.store.files import make_folder, write_atomic
from skillopt.train.pages.changes import diff_lines
from skillopt.train.pruning.prune import PrunePlan, prune
from skillopt.train.pruning.summary import PruneSummary, pruned_files, taken_out
from skillopt.train.summary import UsageRow


class PruneEnded(msgspec.Struct, frozen=True, kw_only=True):
    """How a pruning ended: its summary, and the error that stopped it, if one did."""

    summary: PruneSummary
    error: SkilloptError | None


async def prune_session(
    prepared: Prepared, journal: Journal, clock: Clock, skill: Skill, *, name: str | None, started: Started
) -> PruneEnded:
    """Prune a skill on the val tasks of a config; the same again goes on where it stopped."""
    plan = PrunePlan(skill=skill, val=prepared.plan.val, settings=prepared.config.prune)
    record = _record(prepared, plan)
    chosen = f"prune-{hashlib.sha256(record).hexdigest()[:12]}" if name is None else name
    own = msgspec.structs.replace(prepared, plan_record=record)
    async with opened(own, journal, clock, chosen, ()) as session:
        pruning = asyncio.ensure_future(prune(plan, session.lab.measuring.measure, session.run))
        started(interrupt_of(session.run, pruning))
        error = await ending_of(pruning)
        await session.run.close()
        summary = _conclude(own, session, skill, error)
        await journal.sync()
    return PruneEnded(summary=summary, error=error)


def _record(prepared: Prepared, plan: PrunePlan) -> bytes:
    """What names a pruning: the plan of the config, with another skill and the settings of pruning."""
    settings = msgspec.json.decode(prepared.plan_record)
    return msgspec.json.encode(
        {**settings, "skill": plan.skill.digest, "prune": msgspec.to_builtins(plan.settings)}, order="sorted"
    )


def _conclude(prepared: Prepared, session: Opened, skill: Skill, error: SkilloptError | None) -> PruneSummary:
    """End the session, fold its run once more, write its folder, and return the summary."""
    journal, handle = session.journal, session.handle
    view = view_of(journal.events(handle.name))
    status = status_of(error)
    reason = reason_of(error)
    journal.end_session(handle, status, reason)
    folder = prepared.workspace / "runs" / handle.name
    shown = folder.relative_to(prepared.root) if folder.is_relative_to(prepared.root) else folder
    original = {file.path: file.text for file in skill.files}
    summary = PruneSummary(
        run=handle.name,
        run_dir=shown.as_posix(),
        status=status,
        stop_reason=reason,
        pruned_skill=f"{shown.as_posix()}/pruned_skill.md",
        diff=diff_lines(original, pruned_files(view, original)),
        taken_out=taken_out(view),
        tried=view.tried,
        decided=view.pruned,
        usage=UsageRow.of(sum(view.usage.values(), NOTHING)),
    )
    _write(folder, view, original, summary)
    return summary


def _write(folder: Path, view: RunView, original: dict[str, str], summary: PruneSummary) -> None:
    files = pruned_files(view, original)
    written = {
        "pruned_skill.md": files["SKILL.md"],
        "pruned.diff": "".join(f"{line}\n" for line in summary.diff),
        "prune.json": msgspec.json.format(msgspec.json.encode(summary), indent=2).decode() + "\n",
        **({f"pruned_skill/{path}": text for path, text in files.items()} if len(files) > 1 else {}),
    }
    for path, text in written.items():
        try:
            make_folder((folder / path).parent)
            write_atomic(folder / path, text.encode("utf-8"))
        except OSError as error:
            raise StoreError(
                f"The run folder {folder} cannot be written: {error.strerror}.",
                hint="Make room or way for it, then run the same command again: the journal has everything.",
            ) from error
