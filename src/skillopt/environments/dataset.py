"""The dataset environment: tasks from files, put as a prompt, graded by a rule.
Owns its config section, finding the splits and the rules of a usable row; refuses to know models and training."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal, NamedTuple

import msgspec

from skillopt.domain.chat import Image, Message
from skillopt.domain.errors import UsageError
from skillopt.domain.judging import Unassessed, Unjudged
from skillopt.domain.scores import Score
from skillopt.domain.tasks import SplitName, Task, TaskSet, ratio_split, split_counts
from skillopt.environments import checks
from skillopt.environments.answers import RegexAnswer, extractor
from skillopt.environments.command.settings import CommandSettings
from skillopt.environments.files.home import Home
from skillopt.environments.files.images import read_images, shown_with
from skillopt.environments.graders import COMMAND, Grader, grader
from skillopt.environments.grading import checked, ruled
from skillopt.environments.prompt import PromptSettings
from skillopt.environments.rows import TaskRows, read_rows, suffixes

ENVIRONMENT_VERSION = "dataset-1"  # raise it when the same messages would be put differently

_EMPTY = Score(hard=0.0, soft=0.0, feedback="The answer is empty, or not in the form asked for.")

AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]


class SplitSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How one file of tasks is cut into train, val and test.

    ratio: The weights of train, val and test.
    seed: Which shuffle comes before the cut.
    """

    ratio: tuple[int, int, int] = (2, 1, 7)
    seed: int = 42

    def __post_init__(self) -> None:
        split_counts(0, self.ratio)


class LimitSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many tasks of each split are used, from the first.

    train: The most train tasks, at least 1; null means all.
    val: The most val tasks, at least 1; null means all.
    test: The most test tasks, at least 1; null means all.
    """

    train: AtLeastOne | None = None
    val: AtLeastOne | None = None
    test: AtLeastOne | None = None


class DatasetSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Config section `environment`: tasks from files.

    kind: `dataset` puts each task to the target as a prompt; `agent` sends an agent to do it in a folder of its own.
    path: A folder with a file of tasks for each split, or one file that is cut by `split`.
    split: How one file is cut; a folder is split already.
    limit: How many tasks of each split are used.
    grader: The name of the grader that measures an answer against a reference.
    command: The program that grades, for `grader: command`.
    answer: The name of the mode that finds the answer in a reply, or a `regex`.
    prompt: Templates in place of the default prompt.
    allow_paths: Folders outside the task folder in which the files that tasks name may lie.
    """

    kind: Literal["dataset", "agent"] = "dataset"
    path: str
    split: SplitSettings | None = None
    limit: LimitSettings = LimitSettings()
    grader: str = "exact"
    command: CommandSettings | None = None
    answer: str | RegexAnswer = "tag"
    prompt: PromptSettings = PromptSettings()
    allow_paths: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # a misspelt name is said with its place in the config, before a file is read
        grader(self.grader)
        extractor(self.answer)
        if (self.grader == COMMAND) is (self.command is None):
            raise ValueError("grader: command and the section environment.command go together")


class Dataset:
    """Tasks from files, ready to be put and graded. `tasks.warnings` says what is odd about the files.

    `images` are those that tasks show, by the names under which they stand there.
    """

    def __init__(
        self, settings: DatasetSettings, tasks: TaskSet, images: Mapping[str, Image] = MappingProxyType({})
    ) -> None:
        self.tasks = tasks
        self.images = images
        self._settings = settings
        self._extract = extractor(settings.answer)
        self._measure = grader(settings.grader).grade

    @classmethod
    def load(cls, settings: DatasetSettings, folder: Path, *, shows_images: bool = True) -> Dataset:
        """Return the dataset of a config that stands in `folder`; without `shows_images` no image is opened."""
        path = folder / settings.path
        home = home_of(settings, folder)
        rules = _Rules(settings.grader, grader(settings.grader), settings.prompt.takes_chat, home)
        if path.is_dir():
            found = _from_folder(path, settings, rules)
        elif path.is_file():
            found = _from_file(path, settings, rules)
        else:
            raise UsageError(
                f"There are no tasks at {path}.",
                hint="Set environment.path to a file of tasks, or to a folder with train.jsonl and val.jsonl.",
            )
        tasks = _finished(found, settings.limit)
        return cls(settings, tasks, read_images(tasks.all, home) if shows_images else {})

    @property
    def version(self) -> str:
        """Changes when the same messages would be put differently; settings show in the messages themselves."""
        return ENVIRONMENT_VERSION

    def messages(self, task: Task, rendered_skill: str) -> tuple[Message, ...]:
        """Return what the target is sent; never a reference or a check."""
        messages = self._settings.prompt.messages(task, rendered_skill)
        return shown_with(messages, [self.images[name] for name in task.images]) if task.images else messages

    def grade(self, task: Task, reply: str) -> Score | Unjudged | Unassessed:
        """Score a reply by reference and checks, each of them one part; a rubric leaves the rest to a judge.

        A command takes the place of the reference. An empty answer is wrong by any rubric and any program, and nobody
        need be asked.
        """
        return self.grade_called(task, reply, checks.called_tools(reply))

    def grade_called(self, task: Task, reply: str, called: frozenset[str]) -> Score | Unjudged | Unassessed:
        """Score a reply like `grade`, where it is known by other means which tools were called."""
        answer = self._extract(reply)
        if self._settings.command is not None:
            return self._unassessed(task, answer, called) if answer else _EMPTY
        if task.rubric is None:
            return ruled(task, answer, called, self._measure)
        if not answer:
            return _EMPTY
        parts = len(task.checks) + (task.reference is not None)
        return Unjudged(
            answer=answer,
            rubric=task.rubric,
            references=task.references,
            ruled=ruled(task, answer, called, self._measure) if parts else None,
            parts=parts,
        )

    @staticmethod
    def _unassessed(task: Task, answer: str, called: frozenset[str]) -> Unassessed:
        return Unassessed(
            answer=answer,
            ruled=checked(task, answer, called) if task.checks else None,
            parts=len(task.checks),
            rubric=task.rubric,
            references=task.references,
        )


class _Rules(NamedTuple):
    """What makes a row usable."""

    grader_name: str
    grader: Grader
    takes_chat: bool
    home: Home

    def problem(self, task: Task) -> str | None:
        """Return what is wrong with a task, or None."""
        if not task.id.strip():
            return "id is empty"
        return (
            self._input_problem(task)
            or self._grading_problem(task)
            or next((problem for problem in map(checks.problem, task.checks) if problem is not None), None)
            or next((bad for bad in map(self.home.problem, (*task.files, *task.images)) if bad is not None), None)
        )

    def _input_problem(self, task: Task) -> str | None:
        if isinstance(task.input, str):
            return None if task.input.strip() else "input is empty"
        if not any(turn.role == "user" and turn.content.strip() for turn in task.input):
            return "input is a conversation without a user message"
        if not self.takes_chat:
            return "input is a conversation, which a prompt template with {input} cannot take"
        return None

    def _grading_problem(self, task: Task) -> str | None:
        if task.reference is None and not task.checks and task.rubric is None and self.grader_name != COMMAND:
            return "one of reference, checks or rubric is needed"
        if task.rubric is not None:
            return None if task.rubric.strip() else "rubric is empty"
        if task.reference is None:
            return None
        if not task.reference or not all(map(self.grader.accepts, task.references)):
            return f"for grader {self.grader_name!r} a reference must be {self.grader.wants}"
        return None


def home_of(settings: DatasetSettings, folder: Path) -> Home:
    """Return where the files may lie that tasks name, for a config that stands in `folder`."""
    path = folder / settings.path
    return Home(
        (path if path.is_dir() else path.parent).resolve(),
        tuple((folder / allowed).resolve() for allowed in settings.allow_paths),
    )


def _from_file(path: Path, settings: DatasetSettings, rules: _Rules) -> TaskSet:
    split = SplitSettings() if settings.split is None else settings.split
    rows = read_rows(path, rules.problem)
    return msgspec.structs.replace(ratio_split(rows.tasks, split.ratio, split.seed), warnings=rows.warnings)


def _from_folder(folder: Path, settings: DatasetSettings, rules: _Rules) -> TaskSet:
    if settings.split is not None:
        raise UsageError(
            f"environment.split cuts one file, but {folder} is a folder that is split already.",
            hint="Remove environment.split, or set environment.path to a file.",
        )
    train, val, test = (
        TaskRows((), ()) if path is None else read_rows(path, rules.problem)
        for path in (_split_file(folder, split) for split in SplitName)
    )
    warnings = (*train.warnings, *val.warnings, *test.warnings)
    return TaskSet(train=train.tasks, val=val.tasks, test=test.tasks, warnings=warnings)


def _split_file(folder: Path, split: SplitName) -> Path | None:
    """Return the one file of a split: `val.jsonl`, `val/items.json` or the same under an alias; test may be missing."""
    files = [
        path
        for name in split.spellings
        for suffix in suffixes()
        for path in (folder / f"{name}{suffix}", *(folder / name).glob(f"*{suffix}"))
        if path.is_file()
    ]
    if len(files) > 1:
        raise UsageError(
            f"The {split.value} split has several files: {', '.join(map(str, sorted(files)))}.",
            hint="Keep one of them.",
        )
    if not files and split is not SplitName.TEST:
        raise UsageError(
            f"{folder} has no file for the {split.value} split.",
            hint=f"Add {split.value}.jsonl, .json or .csv (also accepted: {', '.join(split.spellings)}).",
        )
    return files[0] if files else None


def _finished(tasks: TaskSet, limit: LimitSettings) -> TaskSet:
    """Return the tasks within their limits, once the splits are known to be clean."""
    checked = TaskSet.checked(
        train=tasks.train[: limit.train], val=tasks.val[: limit.val], test=tasks.test[: limit.test]
    )
    return msgspec.structs.replace(checked, warnings=(*tasks.warnings, *checked.warnings))
