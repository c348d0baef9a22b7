from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec
import pytest

from skillopt.domain.agency.transcripts import LeftFile
from skillopt.domain.errors import AgentError, AgentTimeoutError, CrashedError
from skillopt.domain.judging import read_score
from skillopt.domain.scores import Score
from skillopt.domain.tasks import Check, Task
from skillopt.domain.usage import NOTHING
from skillopt.environments.command.assessor import CommandAssessor
from skillopt.environments.command.program import Program
from skillopt.kernel.process import Finished
from skillopt.kernel.sandbox import Confinement

TASK = Task(id="secret-id", input="What is it?", context="Here.", reference=("4711", "cargo"), rubric="Be kind.")


class Box:
    """Stands where the sandbox stands, and says what it is told; it looks into the folder first."""

    def __init__(self, stdout: str = '{"score": 1}', **more: object) -> None:
        self.finished = msgspec.convert(
            {"exit_code": 0, "stdout": stdout.encode(), "stderr": b"", "stdout_truncated": False}
            | {"stderr_truncated": False, "timed_out": False, "seconds": 0.5}
            | more,
            Finished,
        )
        self.seen: dict[str, bytes] = {}
        self.bounds: list[Confinement] = []
        self.at_once = 0
        self.most_at_once = 0

    def inside(self, bounds: Confinement) -> str:
        """Return a path as a sandbox would."""
        return "/job"

    async def run(self, argv: Sequence[str], bounds: Confinement, *, env: Mapping[str, str]) -> Finished:
        """Look, and answer."""
        self.bounds.append(bounds)
        self.seen = {
            path.relative_to(bounds.work).as_posix(): path.read_bytes()
            for path in bounds.work.rglob("*")
            if path.is_file()
        }
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        return self.finished


def program(verdict: Literal["json", "exit"] = "json", digest: str = "d") -> Program:
    return Program(
        run=("sh", "grade.sh"),
        argv=("/bin/sh", "grade.sh"),
        readable=(),
        files=(("grade.sh", b"true"), ("lib/part.sh", b"false")),
        verdict=verdict,
        seconds=2.5,
        memory_mb=99,
        digest=digest,
    )


def assessed(box: Box, *, verdict: Literal["json", "exit"] = "json", answer: str = "42") -> Score:
    work = CommandAssessor(program(verdict), box).work(TASK, answer)
    return read_score(asyncio.run(work.perform()).text)


def test_the_program_finds_its_files_the_answer_and_the_task_and_nothing_else() -> None:
    box = Box()
    assessed(box, answer="größer\n")
    assert sorted(box.seen) == ["answer.txt", "grade.sh", "lib/part.sh", "task.json"]
    assert box.seen["answer.txt"].decode() == "größer\n"
    assert json.loads(box.seen["task.json"]) == {
        "input": "What is it?",
        "context": "Here.",
        "reference": ["4711", "cargo"],
    }
    (bounds,) = box.bounds
    assert (bounds.seconds, bounds.cpu_seconds, bounds.memory_mb) == (2.5, 3, 99)


def test_every_answer_has_a_fresh_folder_that_is_gone_afterwards() -> None:
    box = Box()
    assessed(box)
    assessed(box)
    first, second = box.bounds
    assert first.work != second.work
    assert not first.work.exists()


@pytest.mark.parametrize(
    ("stdout", "score"),
    [
        ('{"score": 1}', Score(hard=1.0, soft=1.0)),
        ('{"score": 0}', Score(hard=0.0, soft=0.0)),
        ('noise\n{"score": 0.99}\n\n', Score(hard=0.0, soft=0.99)),
        (
            '{"score": 0.6, "hard": true, "feedback": "Fine."}',
            Score(hard=1.0, soft=0.6, feedback="Fine."),
        ),
        ('{"score": 1, "hard": false}', Score(hard=0.0, soft=1.0)),
        ('{"score": 0.5, "feedback": "two\\nlines"}', Score(hard=0.0, soft=0.5, feedback="two\nlines")),
        ('{"score": 0, "feedback": "Not 4711 or cArGo."}', Score(hard=0.0, soft=0.0, feedback="Not […] or […].")),
        ('{"score": 0, "feedback": "' + "x" * 2000 + '"}', Score(hard=0.0, soft=0.0, feedback="x" * 1000)),
    ],
)
def test_the_last_line_is_the_verdict(stdout: str, score: Score) -> None:
    assert assessed(Box(stdout)) == score


@pytest.mark.parametrize(
    "stdout",
    [
        "",
        "1",
        "null",
        "[]",
        "{}",
        '{"score": 1.5}',
        '{"score": -1}',
        '{"score": "1"}',
        '{"score": NaN}',
        '{"score": true}',
        '{"score": 1, "hrad": true}',
        '{"score": 1}\nbye',
        "[" * 10_000,
        "\udce9".encode("utf-8", "surrogateescape").decode("latin-1"),
    ],
)
def test_what_is_no_verdict_is_a_fault_of_the_program_and_never_a_score(stdout: str) -> None:
    with pytest.raises(CrashedError, match="no verdict"):
        assessed(Box(stdout))


@pytest.mark.parametrize(("exit_code", "hard"), [(0, 1.0), (1, 0.0)])
def test_the_exit_code_may_be_the_verdict(exit_code: int, hard: float) -> None:
    assert assessed(Box("chatter", exit_code=exit_code), verdict="exit").hard == hard


@pytest.mark.parametrize(
    ("verdict", "exit_code", "stderr"),
    [
        ("json", 1, b""),
        ("json", -9, b""),
        ("exit", 2, b""),
        ("exit", 127, b"not found"),
        ("exit", -9, b""),
        ("exit", 1, b"bwrap: execvp /usr/bin/gone: No such file or directory\n"),
    ],
)
def test_a_program_that_breaks_gives_no_score(verdict: Literal["json", "exit"], exit_code: int, stderr: bytes) -> None:
    with pytest.raises(CrashedError, match=f"ended with {exit_code}"):
        assessed(Box(exit_code=exit_code, stderr=stderr), verdict=verdict)


def test_a_program_that_does_not_end_gives_no_score() -> None:
    with pytest.raises(AgentTimeoutError, match=r"after 2\.5 s"):
        assessed(Box(timed_out=True, exit_code=0))


def test_what_is_said_of_a_fault_names_no_folder_of_the_moment() -> None:
    box = Box(exit_code=3, stderr=b"Traceback\nKeyError: /job/grade.sh\n")
    with pytest.raises(AgentError, match=r"ended with 3: KeyError: \./grade\.sh\."):
        assessed(box)


def test_the_key_is_of_all_that_the_program_could_tell_apart() -> None:
    def key(task: Task = TASK, answer: str = "42", digest: str = "d") -> bytes:
        return CommandAssessor(program(digest=digest), Box()).work(task, answer).key

    same = msgspec.structs.replace(TASK, id="other", type="other")
    assert key() == key(same)
    changed = [
        msgspec.structs.replace(TASK, **change)
        for change in ({"input": "?"}, {"context": None}, {"reference": "42"}, {"checks": (Check("no_refusal"),)})
    ]
    assert len({key(), key(answer="43"), key(digest="e"), *map(key, changed)}) == 3 + len(changed)


def test_grading_costs_nothing_and_no_more_programs_run_at_once_than_there_are_processors() -> None:
    import os

    box = Box()

    async def many() -> None:
        assessor = CommandAssessor(program(), box)
        works = [assessor.work(TASK, str(number)) for number in range(40)]
        assert all(work.worst() == NOTHING for work in works)
        replies = await asyncio.gather(*(work.perform() for work in works))
        assert all(reply.usage == NOTHING for reply in replies)

    asyncio.run(many())
    assert 1 <= box.most_at_once <= (os.cpu_count() or 1)


def test_a_slip_of_ours_is_attributed(tmp_path: Path) -> None:
    class Broken(Box):
        async def run(self, argv: Sequence[str], bounds: Confinement, *, env: Mapping[str, str]) -> Finished:
            raise OSError("no space left")

    with pytest.raises(CrashedError, match="no space left"):
        assessed(Broken())


LEFT = (
    LeftFile(path="out/sum.txt", size=3, digest="d1", text="42\n"),
    LeftFile(path="photo.png", size=4, digest="d2", data=b"\x89PNG"),
    LeftFile(path="huge.bin", size=1 << 30, digest="d3"),
    LeftFile(path="in.csv", size=0, deleted=True),
)


def test_what_an_agent_left_lies_in_a_folder_of_its_own_and_all_of_it_is_listed() -> None:
    box = Box()
    work = CommandAssessor(program(), box).work(TASK, "42", LEFT)
    asyncio.run(work.perform())
    ours = {"answer.txt", "grade.sh", "lib/part.sh", "task.json"}
    assert {name: data for name, data in box.seen.items() if name not in ours | {"left.json"}} == {
        "left/out/sum.txt": b"42\n",
        "left/photo.png": b"\x89PNG",
    }
    listed = json.loads(box.seen["left.json"])
    assert [(file["path"], file["size"], file["deleted"]) for file in listed] == [
        (file.path, file.size, file.deleted) for file in LEFT
    ]


def test_an_answer_beside_other_files_is_another_work() -> None:
    assessor = CommandAssessor(program(), Box())
    other = msgspec.structs.replace(LEFT[0], digest="d4", text="43\n")
    keys = {
        assessor.work(TASK, "42", files).key
        for files in ((), LEFT, LEFT[:1], (other,), (msgspec.structs.replace(LEFT[0], path="out/other.txt"),), LEFT[3:])
    }
    assert len(keys) == 6
    assert assessor.work(TASK, "42", LEFT).key == assessor.work(TASK, "42", tuple(LEFT)).key
    assert assessor.work(TASK, "42").key == assessor.work(TASK, "42", ()).key
