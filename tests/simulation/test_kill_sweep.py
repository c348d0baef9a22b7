"""SIGKILL after every journal append of a whole run over HTTP; the same command again ends with the same bytes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from skillopt.testing.worlds import rules_world

REPOSITORY = Path(__file__).parents[2]
SWEEP = Path(__file__).with_name("kill_sweep.py")
WORKERS = 2
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPOSITORY / "src")}

CONFIG = """
skill: SKILL.md
environment: {{kind: dataset, path: tasks}}
models:
  target: {{backend: openai, base_url: "http://127.0.0.1:{port}/s/mindful/v1", model: target}}
  optimizer: {{backend: openai, base_url: "http://127.0.0.1:{port}/s/mindful/v1", model: opt}}
train: {{epochs: 2, batch_size: 2, accumulation: 2, seed: 297}}
reflect: {{minibatch_size: 2}}
aggregate: {{fan_in: 2, ask: always}}
optimizer:
  edit_budget: 1
  min_edit_budget: 1
  slow_update: {{samples: 2}}
  skill_aware: {{enabled: true, consolidate_above: 1}}
gate: {{alpha: 0.3, wave: 2, bisect: true}}
limits: {{concurrency: 4}}
"""
MEMORY = Path("/dev/shm")
STAGES = {"rollout", "reflect", "merge", "rank", "slow_update", "meta_skill", "notes"}


@pytest.fixture
def port() -> Iterator[int]:
    """Run the scripted model server in a process of its own."""
    command = [sys.executable, "-m", "skillopt.testing.server", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=ENVIRONMENT) as server:
        assert server.stdout is not None
        yield json.loads(server.stdout.readline())["port"]
        server.terminate()


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Path]:
    """Return a folder in memory where there is one: a killed process loses nothing there, and a sync takes no time."""
    if not os.access(MEMORY, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield Path(folder)


def test_a_run_killed_after_any_append_ends_with_the_same_bytes(port: int, tmp_path: Path, scratch: Path) -> None:
    tasks = tmp_path / "tasks"
    tasks.mkdir()
    world = rules_world(297, 5, 4, 2)
    (tasks / "train.jsonl").write_text(world.jsonl("train"))
    (tasks / "val.jsonl").write_text(world.jsonl("val"))
    (tasks / "test.jsonl").write_text(world.jsonl("test"))
    (tmp_path / "SKILL.md").write_text("# House style\n\nAnswer in the answer tag.\n")
    config = tmp_path / "skillopt.yaml"
    config.write_text(CONFIG.format(port=port))

    sweeps = [
        subprocess.Popen(
            [sys.executable, SWEEP, config, scratch / f"scratch-{first}", str(first), str(WORKERS)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT,
        )
        for first in range(1, WORKERS + 1)
    ]
    said = [sweep.communicate() for sweep in sweeps]
    assert [sweep.returncode for sweep in sweeps] == [0] * WORKERS, said
    found = [json.loads(output) for output, _ in said]
    total, kinds = found[0]["appends"], found[0]["kinds"]
    sys.stdout.write(f"killed after each of {total} appends; {kinds}\n")
    assert sum(part["points"] for part in found) == total >= 250
    assert all(part["different"] == [] for part in found)
    assert set(kinds["actions"]) >= {"accept_new_best", "reject", "skip_no_patches"}
    assert set(kinds["stages"]) >= STAGES
    assert set(kinds["guidance"]) > {"inject_placeholder"}
    assert "write_meta_skill" in kinds["advice"]
    assert "some" in kinds["reminders"]
