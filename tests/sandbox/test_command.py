"""The command grader in a real sandbox: what it can see and do, and that what breaks is never a score.

Needs bubblewrap or a kernel with landlock; a tier that this machine does not have is skipped, loudly.
"""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path

import pytest

from skillopt.app.project.prepare import prepare
from skillopt.cli.main import main
from skillopt.domain.errors import AgentTimeoutError, CrashedError
from skillopt.domain.judging import read_score
from skillopt.domain.scores import Score
from skillopt.domain.tasks import Task
from skillopt.environments.command.assessor import CommandAssessor
from skillopt.environments.command.program import read_program
from skillopt.environments.command.settings import CommandSettings
from skillopt.kernel.sandbox import Sandbox, Tier, probe
from tests.unit.app.projects import settings, write_project

TASK = Task(id="t", input="Add 40 and 2.", reference="42")


@pytest.fixture(params=list(Tier), ids=lambda tier: tier.value)
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    probed = asyncio.run(probe(request.param))
    if not probed.holds:
        pytest.skip(f"{request.param.value} does not hold here: {probed.says}")
    return Sandbox(request.param)


def graded(sandbox: Sandbox, folder: Path, code: str, answer: str = "42", seconds: float = 60.0) -> Score:
    (folder / "grade.py").write_text(code)
    section = CommandSettings(run=("python", "grade.py"), files=("grade.py",), seconds=seconds, memory_mb=256)
    assessor = CommandAssessor(read_program(section, folder, folder / "tasks"), sandbox)
    return read_score(asyncio.run(assessor.work(TASK, answer).perform()).text)


@pytest.mark.parametrize(("answer", "hard"), [("42", 1.0), ("41", 0.0)])
def test_a_program_reads_answer_and_task_and_says_what_it_finds(
    sandbox: Sandbox, tmp_path: Path, answer: str, hard: float
) -> None:
    code = (
        "import json\nanswer = open('answer.txt').read()\ntask = json.load(open('task.json'))\n"
        "print('thinking')\nprint(json.dumps({'score': float(answer in task['reference'])}))\n"
    )
    assert graded(sandbox, tmp_path, code, answer).hard == hard


LOOKS_AROUND = """
import json, os, socket
port, *places = {told}
found = []
for place in places:
    try:
        found.append(open(place).read())
    except OSError:
        pass
try:
    socket.create_connection(("127.0.0.1", port), 1).close()
    found.append("network")
except OSError:
    pass
names = sorted(name for name in os.listdir(".") if name != ".tmp")
found += [] if names == ["answer.txt", "grade.py", "task.json"] else names
known = "HOME LANG LC_CTYPE PATH PWD PYTHONDONTWRITEBYTECODE PYTHONHASHSEED TMPDIR".split()
found += sorted(set(os.environ) - set(known))
print(json.dumps({{"score": float(not found), "feedback": str(found)}}))
"""


def test_it_sees_its_folder_only_and_has_no_network(sandbox: Sandbox, tmp_path: Path) -> None:
    others = tmp_path / "tasks" / "val.jsonl"
    others.parent.mkdir()
    others.write_text("the other answers")
    with socket.create_server(("127.0.0.1", 0)) as server:
        told = [server.getsockname()[1], str(others), "/etc/passwd", str(Path.home() / ".bashrc")]
        score = graded(sandbox, tmp_path, LOOKS_AROUND.format(told=told))
    assert score == Score(hard=1.0, soft=1.0, feedback="[]")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise KeyError('x')", "ended with 1: KeyError"),
        ("print('fine')", "no verdict"),
        ("bytearray(1 << 30)", "MemoryError"),
        ("import os; os.kill(os.getpid(), 9)", "ended with"),
        ("open('huge', 'wb').truncate(1 << 40)", "ended with"),
    ],
)
def test_a_program_that_breaks_is_never_a_score(sandbox: Sandbox, tmp_path: Path, code: str, said: str) -> None:
    with pytest.raises(CrashedError, match=said):
        graded(sandbox, tmp_path, code)


def test_a_program_that_does_not_end_is_ended(sandbox: Sandbox, tmp_path: Path) -> None:
    with pytest.raises(AgentTimeoutError):
        graded(sandbox, tmp_path, "while True: pass", seconds=1.0)


def test_a_whole_run_asks_once_for_trust_and_grades_nothing_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    command = {"run": ["python", "grade.py"], "files": ["grade.py"]}
    config = settings(environment={"path": "tasks", "grader": "command", "command": command})
    path = write_project(tmp_path / "project", config, sizes=(6, 4, 2))
    exact = write_project(tmp_path / "exact", sizes=(6, 4, 2))
    (tmp_path / "project" / "grade.py").write_text(
        "import json\ntask = json.load(open('task.json'))\nanswer = open('answer.txt').read()\n"
        "print(json.dumps({'score': float(answer in task['reference'])}))\n"
    )
    assert main(["train", str(path)]) == 2
    assert "--trust" in capsys.readouterr().err
    assert main(["train", str(path), "--trust", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert main(["train", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scores"] == first["scores"]
    assert main(["train", str(exact), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scores"] == first["scores"]
    (tmp_path / "project" / "grade.py").write_text("print('{\"score\": 1}')")
    assert prepare(path, environ={}).default_name != first["run"]
    assert main(["train", str(path)]) == 2
