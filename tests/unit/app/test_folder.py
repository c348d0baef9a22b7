"""The run folder: written while a run goes on, and again from the journal alone."""

from __future__ import annotations

import json
import stat
from collections.abc import Sequence
from pathlib import Path

import pytest

from skillopt.app.folder import RunFolder
from skillopt.domain.errors import StoreError
from skillopt.domain.skill import Skill
from skillopt.kernel.events import Event, SkillKept, UnitSettled
from skillopt.kernel.view import view_of
from tests.simulation.house import Lived, house, live
from tests.simulation.memory_house import memory_house

STEP_FILES = {
    "rollouts.jsonl",
    "patches.json",
    "merged_patch.json",
    "ranked_edits.json",
    "candidate_skill.md",
    "edit_report.json",
    "gate.json",
}


@pytest.fixture(scope="module")
def lived() -> Lived:
    return live(house(14))


def watched(path: Path, events: Sequence[Event]) -> RunFolder:
    folder = RunFolder(path)
    for event in events:
        folder.see(event)
    return folder


def contents(path: Path) -> dict[str, bytes]:
    return {file.relative_to(path).as_posix(): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def test_every_step_has_its_files(lived: Lived, tmp_path: Path) -> None:
    watched(tmp_path / "run", lived.events)
    steps = sorted((tmp_path / "run" / "steps").iterdir())
    assert [step.name for step in steps] == [f"step_{each.step:04d}" for each in lived.records]
    for step, record in zip(steps, lived.records, strict=True):
        assert {file.name for file in step.iterdir()} == STEP_FILES
        rows = [json.loads(line) for line in (step / "rollouts.jsonl").read_text().splitlines()]
        assert len(rows) == record.rollout_n + record.rollout_failed
        assert len(json.loads((step / "ranked_edits.json").read_bytes())) == record.n_edits_ranked
        assert len(json.loads((step / "patches.json").read_bytes())) == record.n_patches
        assert json.loads((step / "gate.json").read_bytes())["decision"]["action"] == record.action
        assert len((step / "candidate_skill.md").read_text()) == record.candidate_skill_len
    skills = sorted(file.name for file in (tmp_path / "run" / "skills").iterdir())
    assert skills == [f"skill_v{number:04d}.md" for number in range(len(steps) + 1)]


def test_what_was_watched_is_what_is_rebuilt(lived: Lived, tmp_path: Path) -> None:
    seed = Skill.from_text("unused")
    watched(tmp_path / "a", lived.events).write(lived.view, lived.summary, seed=seed)
    watched(tmp_path / "b", lived.events).write(lived.view, lived.summary, seed=seed)
    (tmp_path / "b" / "best_skill.md").write_text("changed by hand")
    watched(tmp_path / "b", lived.events).write(lived.view, lived.summary, seed=seed)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert {"best_skill.md", "history.json", "summary.json", "report.html"} <= set(contents(tmp_path / "a"))
    assert (tmp_path / "a" / "best_skill.md").read_text() == lived.best
    history = json.loads((tmp_path / "a" / "history.json").read_bytes())
    assert [each["step"] for each in history] == [each.step for each in lived.records]


def test_a_step_shows_as_soon_as_it_is_whole_and_not_before(lived: Lived, tmp_path: Path) -> None:
    first = next(number for number, event in enumerate(lived.events) if type(event).__name__ == "StepEnded")
    watched(tmp_path / "before", lived.events[:first])
    watched(tmp_path / "after", lived.events[: first + 1])
    assert not (tmp_path / "before" / "steps").exists()
    assert {file.name for file in (tmp_path / "after" / "steps" / "step_0001").iterdir()} == STEP_FILES
    assert (tmp_path / "after" / "best_skill.md").is_file()


def test_a_run_that_got_nowhere_still_has_the_seed_as_its_best(lived: Lived, tmp_path: Path) -> None:
    seed = Skill.from_text("# Seed\n")
    watched(tmp_path, ()).write(view_of(()), lived.summary, seed=seed)
    assert (tmp_path / "best_skill.md").read_text() == "# Seed\n"
    assert json.loads((tmp_path / "history.json").read_bytes()) == []


def test_a_best_skill_of_several_files_is_a_folder_too(lived: Lived, tmp_path: Path) -> None:
    events = [
        SkillKept(digest=event.digest, name="house", files={**event.files, "references/a.md": "A\n"})
        if isinstance(event, SkillKept)
        else event
        for event in lived.events
    ]
    watched(tmp_path, events)
    assert (tmp_path / "best_skill" / "references" / "a.md").read_text() == "A\n"
    assert (tmp_path / "best_skill" / "SKILL.md").read_bytes() == (tmp_path / "best_skill.md").read_bytes()


def test_everything_is_its_owners_alone(lived: Lived, tmp_path: Path) -> None:
    root = tmp_path / "runs" / "one"
    watched(root, lived.events).write(lived.view, lived.summary, seed=Skill.blank())
    modes = {stat.S_IMODE(path.stat().st_mode) for path in root.rglob("*") if path.is_file()}
    folders = {stat.S_IMODE(path.stat().st_mode) for path in (root, root.parent, *root.rglob("*")) if path.is_dir()}
    assert (modes, folders) == ({0o600}, {0o700})


def test_every_epoch_has_its_files(tmp_path: Path) -> None:
    lived = live(memory_house(11, slow="force", pairs="changed"))
    watched(tmp_path, lived.events)
    slow, meta = tmp_path / "slow_update", tmp_path / "meta_skill"
    assert [path.name for path in sorted(slow.iterdir())] == ["epoch_01", "epoch_02", "epoch_03"]
    assert {path.name for path in (slow / "epoch_01").iterdir()} == {"slow_result.json"}
    for epoch in lived.view.epochs[1:]:
        assert epoch.slow_update is not None
        assert epoch.ended is not None
        folder = slow / f"epoch_{epoch.ended.epoch:02d}"
        told = json.loads((folder / "slow_result.json").read_bytes())
        assert told["action"] == epoch.slow_update.action
        assert (folder / "candidate_skill.md").exists() is (epoch.gate is not None)
        if epoch.compared is not None:
            pairs = json.loads((folder / "comparison_pairs.json").read_bytes())
            assert {pair["category"] for pair in pairs} <= {"improved", "regressed"}
        advice = json.loads((meta / f"epoch_{epoch.ended.epoch:02d}" / "meta_skill_result.json").read_bytes())
        assert advice["meta_skill_content"]
        last = tmp_path / "skills" / f"skill_v{epoch.ended.step:04d}.md"
        assert last.read_text() == lived.view.skills[epoch.ended.skill_digest].files["SKILL.md"]


def test_a_step_with_reminders_has_them_in_its_folder(tmp_path: Path) -> None:
    lived = live(memory_house(8))
    watched(tmp_path, lived.events)
    for step in lived.view.finished_steps:
        path = tmp_path / "steps" / f"step_{step.began.step:04d}" / "appendix_notes.json"
        assert path.exists() is (step.notes is not None)


def test_live_signals_write_nothing(tmp_path: Path) -> None:
    RunFolder(tmp_path / "run").see(UnitSettled("start/baseline", answered=True, replayed=False))
    assert not (tmp_path / "run").exists()


def test_a_folder_that_cannot_be_written_is_trouble_with_the_store(lived: Lived, tmp_path: Path) -> None:
    (tmp_path / "run").write_text("in the way")
    with pytest.raises(StoreError) as refused:
        RunFolder(tmp_path / "run").write(lived.view, lived.summary, seed=Skill.blank())
    assert str(tmp_path / "run") in refused.value.message


@pytest.mark.parametrize(
    ("path", "root", "shown"),
    [
        ("/a/.skillopt/runs/x", "/a", ".skillopt/runs/x"),
        ("/a/w/runs/x", "/a", "w/runs/x"),
        ("/b/runs/x", "/a", "/b/runs/x"),
    ],
)
def test_paths_are_told_as_seen_from_the_config(path: str, root: str, shown: str) -> None:
    assert RunFolder(Path(path)).relative_to(Path(root)) == shown
