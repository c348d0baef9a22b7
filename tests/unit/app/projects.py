"""Small projects on disk, for tests of the app and of the command line: a config, a seed skill and the rules world."""

from __future__ import annotations

import json
from pathlib import Path

from skillopt.testing.worlds import rules_world

SEED_SKILL = "# House style\n\nAnswer in the answer tag.\n"
Settings = dict[str, object]


def settings(**sections: object) -> Settings:
    """Return a configuration on scripted models; a section that is given replaces the usual one."""
    usual: Settings = {
        "skill": "SKILL.md",
        "environment": {"kind": "dataset", "path": "tasks"},
        "models": {
            "target": {"backend": "scripted", "scenario": "rules"},
            "optimizer": {"backend": "scripted", "scenario": "rules"},
        },
        "train": {"epochs": 1, "batch_size": 6},
        "optimizer": {"edit_budget": 3, "min_edit_budget": 1},
        "limits": {"concurrency": 4},
    }
    return usual | sections


def over_http(url: str, **more: object) -> Settings:
    """Return a models section in which both models are at this address."""
    return {
        "target": {"backend": "openai", "base_url": url, "model": "target", **more},
        "optimizer": {"backend": "openai", "base_url": url, "model": "opt", **more},
    }


def write_project(folder: Path, config: Settings | None = None, *, sizes: tuple[int, int, int] = (12, 6, 4)) -> Path:
    """Write a project into a folder and return the path of its config."""
    tasks = folder / "tasks"
    tasks.mkdir(parents=True, exist_ok=True)
    world = rules_world(14, *sizes)
    (tasks / "train.jsonl").write_text(world.jsonl("train"), encoding="utf-8")
    (tasks / "val.jsonl").write_text(world.jsonl("val"), encoding="utf-8")
    (tasks / "test.jsonl").write_text(world.jsonl("test"), encoding="utf-8")
    (folder / "SKILL.md").write_text(SEED_SKILL, encoding="utf-8")
    path = folder / "skillopt.yaml"
    path.write_text(json.dumps(settings() if config is None else config), encoding="utf-8")  # JSON is YAML
    return path


def lasting(summary: dict[str, object]) -> dict[str, object]:
    """Return what a summary says that must be the same however a run was interrupted, and whatever it is called."""
    usage = {name: value for name, value in as_dict(summary["usage"]).items() if name != "overhead"}
    kept = {key: value for key, value in summary.items() if key not in {"run", "run_dir", "best_skill", "wall_seconds"}}
    return {**kept, "usage": usage}


def as_dict(value: object) -> dict[str, object]:
    """Return a value that must be a JSON object."""
    assert isinstance(value, dict)
    return value


def lasting_bytes(run_folder: Path) -> tuple[bytes, bytes, dict[str, object]]:
    """Return what must be the same in every folder of one run: the skill, the history and the summary."""
    summary = json.loads((run_folder / "summary.json").read_bytes())
    return (run_folder / "best_skill.md").read_bytes(), (run_folder / "history.json").read_bytes(), lasting(summary)
