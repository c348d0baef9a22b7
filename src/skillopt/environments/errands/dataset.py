"""The agent environment: the tasks of a dataset, each an errand for an agent, graded by what it said and did.
Owns what an agent is sent with and which tools it has called; refuses to know folders, programs and prompts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from skillopt.domain.agency.errands import Attachment, Errand
from skillopt.domain.agency.shims import NAMING, refusal
from skillopt.domain.agency.transcripts import Transcript
from skillopt.domain.chat import Message
from skillopt.domain.errors import UsageError
from skillopt.domain.judging import Unassessed, Unexamined, Unjudged
from skillopt.domain.scores import Score
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import SplitName, Task, TaskSet
from skillopt.environments.dataset import Dataset

ERRAND_VERSION = "errand-2"  # raise it when the same task would be sent differently
_CALLED = "tool_called"
_WHO = {"system": "Instructions", "user": "They said", "assistant": "You said"}


class AgentDataset:
    """A dataset whose tasks agents are sent to do; what only a prompt needs, the dataset itself still does.

    `data` are the digests of the folders that every agent may read, by the names it knows them by.
    """

    def __init__(self, dataset: Dataset, files: Mapping[str, Attachment], data: Mapping[str, str]) -> None:
        self._dataset = dataset
        self._files = files
        self._data = dict(sorted(data.items()))

    @classmethod
    def of(cls, dataset: Dataset, home: Path, data: Mapping[str, Path]) -> AgentDataset:
        """Return the environment of a dataset whose files lie in `home`, and of these folders; each is read once."""
        wanted_tools(dataset.tasks)
        return cls(dataset, _attached(dataset.tasks, home), {name: _tree(folder) for name, folder in data.items()})

    @property
    def version(self) -> str:
        """Changes when the same task would be sent or put differently, or other data would be found."""
        data = [f"{name}:{digest}" for name, digest in self._data.items()]
        return " ".join((self._dataset.version, ERRAND_VERSION, *data))

    @property
    def contents(self) -> dict[str, str]:
        """The digest of every file and folder that agents may find, by its name."""
        return {name: file.digest for name, file in self._files.items()} | self._data

    @property
    def tasks(self) -> TaskSet:
        """All tasks, by split."""
        return self._dataset.tasks

    def messages(self, task: Task, rendered_skill: str) -> tuple[Message, ...]:
        """Return what a model without tools is sent."""
        return self._dataset.messages(task, rendered_skill)

    def grade(self, task: Task, reply: str) -> Score | Unjudged | Unassessed | Unexamined:
        """Score an answer by what was said."""
        return self._dataset.grade(task, reply)

    def errand(self, task: Task, skill: Skill) -> Errand:
        """Return the task in words with the skill, its files and images, and a tool for each that it must call."""
        return Errand(
            instruction=_instruction(self._dataset.messages(task, "")),
            skill=skill,
            files=tuple(self._files[name] for name in task.files),
            images=tuple(self._files[name] for name in task.images),
            shims=tools_of(task),
        )

    def grade_work(self, task: Task, reply: str, transcript: Transcript) -> Score | Unjudged | Unassessed:
        """Score an answer; a tool counts as called when the log has it, whatever the words say."""
        called = frozenset((*transcript.shims, *(name for name, _ in transcript.calls)))
        found = self._dataset.grade_called(task, reply, called)
        return msgspec.structs.replace(found, files=transcript.files) if isinstance(found, Unassessed) else found


def tools_of(task: Task) -> tuple[str, ...]:
    """Return the tools that a task's checks want called, each once."""
    return tuple(
        dict.fromkeys(check.arg for check in task.checks if check.op == _CALLED and isinstance(check.arg, str))
    )


def wanted_tools(tasks: TaskSet) -> dict[str, str]:
    """Return every tool that is to be called, with the first task that wants it; a name that cannot be is an error."""
    wanted: dict[str, str] = {}
    for task in (task for split in SplitName for task in tasks.of(split)):
        tools = tools_of(task)
        problem = refusal(tools)
        if problem is not None:
            raise UsageError(f"Task {task.id!r} wants {problem}.", hint=NAMING)
        for tool in tools:
            wanted.setdefault(tool, task.id)
    return wanted


def _instruction(messages: Sequence[Message]) -> str:
    """Return a prompt as one text: its only message as it is, or each under who said it."""
    if len(messages) == 1:
        return messages[0].content
    return "\n\n".join(f"## {_WHO[message.role]}\n\n{message.content}" for message in messages)


def _tree(folder: Path) -> str:
    """Return the digest of a folder: the names and the contents of its files, in order."""
    found = hashlib.sha256()
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        with path.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        found.update(f"{path.relative_to(folder).as_posix()}\0{digest}\n".encode())
    return found.hexdigest()


def _attached(tasks: TaskSet, home: Path) -> dict[str, Attachment]:
    """Return every file that a task names, read once for its digest."""
    found: dict[str, Attachment] = {}
    for task in (task for split in SplitName for task in tasks.of(split)):
        for name in (*task.files, *task.images):
            if name not in found:
                found[name] = _attachment(task, name, (home / name).resolve())
    return found


def _attachment(task: Task, name: str, source: Path) -> Attachment:
    if not source.is_file():
        raise UsageError(f"Task {task.id!r} names {name!r}, which is no file.", hint="Name each file, not its folder.")
    with source.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    return Attachment(name=name.lstrip("/"), digest=digest, source=str(source))
