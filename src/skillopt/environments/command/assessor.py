"""Has answers graded by a program: a fresh folder for each, the sandbox around it, its last word read as a score.
Owns what the program is shown and what counts as its word; a program that breaks has given none, and never a 0."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Protocol

import msgspec

from skillopt.domain.agency.transcripts import LeftFile
from skillopt.domain.chat import Message, Reply
from skillopt.domain.errors import AgentTimeoutError, CrashedError
from skillopt.domain.judging import written
from skillopt.domain.scores import Score
from skillopt.domain.tasks import Task
from skillopt.domain.texts import without
from skillopt.domain.usage import NOTHING, Usage
from skillopt.environments.command.program import ANSWER, LEFT, LEFT_LIST, TASK, Program
from skillopt.kernel.boundary import Attributed
from skillopt.kernel.journal import Key
from skillopt.kernel.process import Finished
from skillopt.kernel.sandbox import Confinement

_ENV = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
_LONGEST_FEEDBACK = 1000
_LONGEST_CAUSE = 300
_RIGHT, _WRONG = Score(hard=1.0, soft=1.0), Score(hard=0.0, soft=0.0, feedback="The program did not accept the answer.")
_encoder = msgspec.msgpack.Encoder()


class Box(Protocol):
    """Where the program runs: a sandbox."""

    def inside(self, bounds: Confinement) -> str:
        """Return the path by which the program knows its folder."""
        ...

    async def run(self, argv: tuple[str, ...], bounds: Confinement, *, env: dict[str, str]) -> Finished:
        """Run a program to its end or to its deadline."""
        ...


class Verdict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the program prints as its last line; `hard` is right only for a full score unless it says so."""

    score: Annotated[float, msgspec.Meta(ge=0, le=1)]
    hard: bool | None = None
    feedback: str = ""


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What the program reads of the task."""

    input: str | tuple[Message, ...]
    context: str | None
    reference: tuple[str, ...]


class CommandAssessor:
    """Makes the works that grade answers; no more of them run at once than there are processors."""

    def __init__(self, program: Program, box: Box) -> None:
        self._program = program
        self._box = box
        self._places = asyncio.Semaphore(os.cpu_count() or 1)

    def work(self, task: Task, answer: str, files: Sequence[LeftFile] = ()) -> Assessment:
        """Return the work of grading this answer with the files left beside it; its reply is a written score."""
        seen: tuple[object, ...] = (self._program.digest, task.public_digest, task.grading_digest, answer)
        if files:
            seen = (*seen, tuple(files))
        key = blake2b(_encoder.encode(("v1", "assess", *seen)), digest_size=16).digest()
        return Assessment(key, self, task, answer, tuple(files))

    async def assess(self, task: Task, answer: str, files: Sequence[LeftFile] = ()) -> Reply:
        """Run the program on one answer."""
        async with self._places:
            with (
                Attributed(CrashedError, "The command grader"),
                tempfile.TemporaryDirectory(prefix="skillopt-test-", ignore_cleanup_errors=True) as place,
            ):
                bounds = self._bounds(place)
                _lay_out(bounds.work, self._program, task, answer)
                _lay_beside(bounds.work, files)
                finished = await self._box.run(self._program.argv, bounds, env=_ENV)
                score = _score(self._program, finished, (self._box.inside(bounds), str(bounds.work)))
        told = msgspec.structs.replace(score, feedback=without(score.feedback, task.references)[:_LONGEST_FEEDBACK])
        return Reply(text=written(told), usage=NOTHING, seconds=finished.seconds)

    def _bounds(self, place: str) -> Confinement:
        seconds = self._program.seconds
        return Confinement(
            work=Path(place).resolve(),
            readable=self._program.readable,
            seconds=seconds,
            cpu_seconds=int(seconds) + 1,  # always after the deadline, which says what it was
            memory_mb=self._program.memory_mb,
        )


class Assessment(msgspec.Struct, frozen=True, gc=False):
    """Having one answer graded by the program; it costs time and no money."""

    key: Key
    assessor: CommandAssessor
    task: Task
    answer: str
    files: tuple[LeftFile, ...] = ()
    role: str = ""
    account: str = "command"

    def worst(self) -> Usage:
        """No call, no tokens."""
        return NOTHING

    async def perform(self) -> Reply:
        """Run the program once."""
        return await self.assessor.assess(self.task, self.answer, self.files)


def _lay_out(work: Path, program: Program, task: Task, answer: str) -> None:
    """Write the program's files, the answer and the task; nothing of any other task."""
    shown = Shown(input=task.input, context=task.context, reference=task.references)
    for name, data in (*program.files, (ANSWER, answer.encode()), (TASK, msgspec.json.encode(shown))):
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _lay_beside(work: Path, files: Sequence[LeftFile]) -> None:
    """Write what an agent left into a folder of its own, and the list of all of it, deleted and too large ones too."""
    if not files:
        return
    listed = [msgspec.structs.replace(file, text=None, data=None) for file in files]
    (work / LEFT_LIST).write_bytes(msgspec.json.encode(listed))
    for file in files:
        data = file.data if file.text is None else file.text.encode()
        if data is not None:
            path = work / LEFT / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def _score(program: Program, finished: Finished, places: tuple[str, ...]) -> Score:
    """Return what the program said; whatever is not plainly its word is a fault of the program."""
    if finished.timed_out:
        raise AgentTimeoutError(
            f"The command grader was still running after {program.seconds:g} s.",
            hint="Raise environment.command.seconds, or make the program end.",
        )
    # bubblewrap ends with 1 when it cannot start the program, which then has said nothing
    if program.verdict == "exit" and finished.exit_code in {0, 1} and not finished.stderr.startswith(b"bwrap: "):
        return _RIGHT if finished.exit_code == 0 else _WRONG
    if finished.exit_code or program.verdict == "exit":
        raise _broken(f"ended with {finished.exit_code}", finished.stderr, places)
    last = finished.stdout.strip().rpartition(b"\n")[2]
    try:
        said = msgspec.json.decode(last, type=Verdict)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise _broken(f"printed no verdict as its last line ({error})", finished.stderr, places) from error
    hard = said.score == 1 if said.hard is None else said.hard
    return Score(hard=float(hard), soft=said.score, feedback=said.feedback)


def _broken(what: str, stderr: bytes, places: tuple[str, ...]) -> CrashedError:
    """Return the fault in words that are the same wherever the folder was."""
    said = stderr.decode(errors="replace").strip().rpartition("\n")[2]
    for place in places:
        said = said.replace(place, ".")
    more = f": {said[:_LONGEST_CAUSE]}" if said else ""
    return CrashedError(f"The command grader {what}{more}.", hint="Try it by hand on an answer.txt and a task.json.")
