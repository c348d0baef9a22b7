"""The run folder a person opens: a view of the run, written while it goes on and rebuilt at any time.
Owns its file names and layout; refuses to know how anything in it was decided. Losing it loses nothing."""

from __future__ import annotations

from pathlib import Path

import msgspec

from skillopt.domain.errors import StoreError
from skillopt.domain.skill import Skill
from skillopt.kernel.events import EpochEnded, Event, Signal, SkillKept, StepEnded
from skillopt.kernel.view import EpochView, RunView, StepView, fold
from skillopt.store.files import holds, make_folder, write_atomic
from skillopt.train.epochs import meta_result, pair_rows, slow_result
from skillopt.train.history import history
from skillopt.train.pages.page import page
from skillopt.train.summary import Summary


class RunFolder:
    """Watches a run and keeps its folder up to date after each whole step."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._view = RunView()

    def relative_to(self, root: Path) -> str:
        """Return the folder's path as seen from the config's folder, with `/`."""
        path = self._path
        return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()

    def see(self, fact: Event | Signal) -> None:
        """Write what a whole step adds."""
        if isinstance(fact, Signal):
            return
        self._view = fold(self._view, fact)
        if isinstance(fact, StepEnded):
            self._write_step(self._view.steps[-1], fact)
        elif isinstance(fact, EpochEnded):
            self._write_epoch(self._view.epochs[-1], fact)
        elif isinstance(fact, SkillKept) and len(self._view.skills) == 1:
            self._write_skill("skills/skill_v0000.md", fact.digest)
            self._write_best(fact.digest)

    def write(self, view: RunView, summary: Summary, *, seed: Skill) -> None:
        """Write everything that describes the run as a whole."""
        self._view = view
        records = history(view)
        best = view.best_digest
        if best is not None and best in view.skills:
            self._write_best(best)
        else:
            self._text("best_skill.md", seed.text)
        self._data("history.json", records)
        self._data("summary.json", summary)
        self._text("report.html", page(view, summary))

    def _write_step(self, step: StepView, ended: StepEnded) -> None:
        number = ended.step
        folder = f"steps/step_{number:04d}"
        self._write_skill(f"skills/skill_v{number:04d}.md", ended.skill_digest)
        rows = b"".join(msgspec.json.encode(msgspec.to_builtins(row)) + b"\n" for row in step.rows)
        self._bytes(f"{folder}/rollouts.jsonl", rows)
        if step.works:
            works = b"".join(msgspec.json.encode(msgspec.to_builtins(work)) + b"\n" for work in step.works)
            self._bytes(f"{folder}/agents.jsonl", works)
        self._data(f"{folder}/patches.json", [patch for patch in step.patches if patch.stage == "reflect"])
        self._data(f"{folder}/merged_patch.json", step.merged)
        self._data(f"{folder}/ranked_edits.json", step.ranked)
        if step.decision is not None:
            self._data(f"{folder}/lr_decision.json", step.decision)
        self._data(f"{folder}/edit_report.json", step.candidate)
        self._data(f"{folder}/gate.json", {"decision": step.gate, "measured": step.measured})
        if step.candidate is not None:
            self._write_skill(f"{folder}/candidate_skill.md", step.candidate.skill_digest)
        if step.notes is not None:
            self._data(f"{folder}/appendix_notes.json", step.notes)
        self._write_best(ended.best_digest)
        self._data("history.json", history(self._view))

    def _write_epoch(self, epoch: EpochView, ended: EpochEnded) -> None:
        """Write what was drawn from an epoch; its last skill is the one that the slow update left."""
        folder = f"epoch_{ended.epoch:02d}"
        slow, meta = slow_result(epoch), meta_result(epoch)
        if slow is not None:
            self._data(f"slow_update/{folder}/slow_result.json", slow)
        if epoch.slow_update is not None and epoch.gate is not None:
            self._write_skill(f"slow_update/{folder}/candidate_skill.md", epoch.slow_update.skill_digest)
        if meta is not None:
            self._data(f"meta_skill/{folder}/meta_skill_result.json", meta)
        if epoch.compared is not None:
            place = "meta_skill" if slow is None else "slow_update"
            pairs = epoch.compared.pairs
            kept = [pair for pair in pairs if pair.kept]
            self._data(f"{place}/{folder}/comparison_pairs.json", pair_rows(kept))
            if len(kept) < len(pairs):
                self._data(f"{place}/{folder}/comparison_pairs_all.json", pair_rows(pairs))
        self._write_skill(f"skills/skill_v{ended.step:04d}.md", ended.skill_digest)
        self._write_best(ended.best_digest)

    def _write_best(self, digest: str) -> None:
        self._write_skill("best_skill.md", digest)
        kept = self._view.skills.get(digest)
        if kept is not None and len(kept.files) > 1:
            for name, text in kept.files.items():
                self._text(f"best_skill/{name}", text)

    def _write_skill(self, name: str, digest: str) -> None:
        kept = self._view.skills.get(digest)
        if kept is not None:
            self._text(name, _document(kept))

    def _data(self, name: str, value: object) -> None:
        self._bytes(name, msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")

    def _text(self, name: str, text: str) -> None:
        self._bytes(name, text.encode("utf-8"))

    def _bytes(self, name: str, data: bytes) -> None:
        path = self._path / name
        if holds(path, data):
            return
        try:
            make_folder(path.parent)
            write_atomic(path, data)
        except OSError as error:
            raise StoreError(
                f"The run folder {self._path} cannot be written: {error.strerror}.",
                hint="Make room or way for it, then run the same command again: the journal has everything.",
            ) from error


def _document(kept: SkillKept) -> str:
    return kept.files["SKILL.md"]
