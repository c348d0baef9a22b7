"""A stand-in for Codex: a real program on PATH that is started as Codex is and writes what Codex writes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

_ACTS = """#!{python} -IS
import json, pathlib, sys

if sys.argv[1:] == ["--version"]:
    print("codex-cli 0.169.0")
    raise SystemExit
sys.stdin.read()
task = pathlib.Path("task.md").read_text()
(place,) = pathlib.Path(".agents/skills").glob("*/SKILL.md")
skill = place.read_text()

def answer(task, skill):
    {answer}

def tell(**event):
    print(json.dumps(event), flush=True)

said = answer(task, skill)
tell(type="thread.started", thread_id="thread-1")
if said is None:
    raise SystemExit(9)
pathlib.Path("answer.txt").write_text(said)
ran = dict(type="command_execution", command="cat task.md", aggregated_output=task, exit_code=0, status="completed")
tell(type="item.completed", item=dict(id="item_1", **ran))
tell(type="item.completed", item=dict(id="item_2", type="agent_message", text=said))
tell(type="turn.completed", usage=dict(input_tokens=100, cached_input_tokens=10, output_tokens=7))
"""


def codex_on_path(folder: Path, monkeypatch: pytest.MonkeyPatch, answer: str = 'return "done"') -> dict[str, object]:
    """Put the stand-in first on PATH, keep permissions in this folder, and return the settings of a model behind it.

    `answer` is the body of a function of the task's text and the skill's; None from it is a crash.
    """
    program = folder / "programs" / "codex"
    program.parent.mkdir(parents=True)
    program.write_text(_ACTS.format(python=sys.executable, answer=answer), encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join((str(program.parent), os.environ["PATH"])))
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    return {"backend": "codex", "model": "m", "base_url": "http://127.0.0.1:9/v1", "api_key": "none"}
