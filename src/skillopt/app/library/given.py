"""Reads what a caller of the library gives: a skill, tasks, functions or models, settings; and makes a run of it.
Owns the forms in which each may be given; refuses to know how a run goes."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TypedDict, cast

import msgspec

from skillopt.app.config import Config, plan_bytes
from skillopt.app.library.own import named_in, own_environment, own_tasks
from skillopt.app.models import references, refuse_unseen
from skillopt.app.project.errands import Surroundings, surroundings
from skillopt.app.project.prepare import Prepared, refuse_files
from skillopt.app.project.prompts import read_prompts
from skillopt.app.project.secrets import scrubbed_skill, scrubbed_tasks, scrubber
from skillopt.app.project.skills import read_skill
from skillopt.app.project.trust import Trust
from skillopt.app.settings.load import typed
from skillopt.app.workspace import WORKSPACE
from skillopt.backends.function import FunctionChat, FunctionSettings, waits
from skillopt.domain.chat import Image, Reply
from skillopt.domain.errors import UsageError
from skillopt.domain.scores import Score
from skillopt.domain.skill import SKILL_FILE, Skill
from skillopt.domain.tasks import SplitName, Task, TaskSet, ratio_split
from skillopt.environments.dataset import Dataset, DatasetSettings, SplitSettings, home_of
from skillopt.environments.files.images import read_images
from skillopt.environments.function import Called
from skillopt.environments.function import Grade as PureGrade
from skillopt.kernel.plugins.members import Members, members_of
from skillopt.kernel.ports import Chat, Environment, Observer
from skillopt.train.plan import Plan

Setting = str | float | bool | None | Sequence["Setting"] | Mapping[str, "Setting"]
Settings = Mapping[str, Setting]
Rows = Sequence[Task | Settings]
Tasks = Rows | Mapping[str, Rows] | Path | Environment
Said = str | Reply
Ask = Callable[[list[dict[str, str]]], Said | Awaitable[Said]]
Attempt = Callable[[str, Task], Said | Awaitable[Said]] | Ask
Verdict = Score | bool | float
Grade = Callable[[Task, str], Verdict | Awaitable[Verdict]]
GivenModel = Settings | Chat
_IN_MEMORY = "in memory"


class Keeping(TypedDict, total=False):
    """What else a call may say: where the run is kept, what it is called, and who watches it.

    workspace: The folder in which answers and runs are kept; in memory unless given, and forgotten at the end.
    version: Which state of your functions this is. Needed with a workspace: recorded answers are used again only under
        the same one, so change it when a function changes.
    run: The name of the run; by default its plan's digest.
    observers: Who is shown each event.
    """

    workspace: str | Path
    version: str
    run: str
    observers: Sequence[Observer]


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """All that a caller of `optimize` or `evaluate` gave."""

    skill: str | Path | Skill | None
    tasks: Tasks
    attempt: Attempt | GivenModel
    grade: Grade | None
    optimizer: Ask | GivenModel | None
    settings: Settings
    keeping: Keeping


def prepared_from(given: Given, *, trains: bool) -> Prepared:
    """Return a run that could start; without training all tasks are one split, and no optimizer is needed."""
    keeping = given.keeping
    own = own_environment(given.tasks)
    members = Members() if own is None else members_of(own)
    if own is not None:
        _refuse_what_it_does_itself(given)
    models = _Models(_version(given))
    target = models.of("target", given.attempt, FunctionChat.attempting if own is None else FunctionChat.asking)
    optimizer = models.of("optimizer", _nobody if given.optimizer is None else given.optimizer, FunctionChat.asking)
    if given.grade is not None and waits(given.grade):
        models.of("judge", given.grade, FunctionChat.grading)
    config = _config(given, {"target": target, "optimizer": optimizer})
    _refuse_uncounted(config, models.functions)
    scrub = scrubber(references(config.models)).text
    skill, warnings = scrubbed_skill(_skill(given.skill), scrub)
    if own is None:
        loaded = _tasks(given.tasks, config.environment, trains=trains)
        shown = {} if "target" in models.functions else _images(loaded, config)
        tasks = scrubbed_tasks(loaded, scrub)
        around = _around(given, config, Dataset(config.environment, tasks, shown), models.functions)
    else:
        tasks = scrubbed_tasks(own_tasks(own, members.draws, config.train, trains=trains), scrub)
        around = Surroundings(own, members, {})
    prompts = read_prompts(Path.cwd(), config.prompts, scrub)
    if members.prompts is not None:
        prompts = prompts.over({name: scrub(text) for name, text in members.prompts.prompts.items()})
    tasks = msgspec.structs.replace(tasks, warnings=(*warnings, *tasks.warnings))
    plan = Plan(
        seed_skill=skill,
        tasks=tasks,
        drawn=trains and members.draws is not None,
        train=config.train,
        optimizer=config.optimizer,
        search=config.search,
        stop=config.stop,
        test=config.test,
    )
    record = _plan_record(given, own, plan_bytes(config, skill, tasks, prompts, contents=around.contents))
    root = Path.cwd()
    return Prepared(
        config=config,
        root=root,
        workspace=_workspace(given),
        environment=around.environment,
        members=around.members,
        prompts=prompts,
        plan=plan,
        plan_record=record,
        digest=hashlib.sha256(record).hexdigest(),
        scrub=scrub,
        trust=Trust(written=True),
        chats=models.chats,
        in_memory="workspace" not in keeping,
    )


def _around(given: Given, config: Config, dataset: Dataset, functions: set[str]) -> Surroundings:
    """Return the environment of the caller's tasks, for a target that is called or asked, or one that is sent."""
    on_disk = isinstance(given.tasks, Path)
    around = surroundings(config, Path.cwd(), _workspace(given), dataset, on_disk=on_disk)
    if around.members.errands is None:
        return around._replace(environment=_called(given, dataset, functions))
    if given.grade is not None:
        raise UsageError(
            "grade is given, and environment.kind is agent: what an agent left is graded as the tasks say.",
            hint="Give the tasks a reference, checks or a rubric.",
        )
    return around


def _workspace(given: Given) -> Path:
    return Path.cwd() / given.keeping.get("workspace", WORKSPACE)


def _called(given: Given, dataset: Dataset, functions: set[str]) -> Called:
    """Return the dataset with the caller's functions in the place of what they do."""
    return Called(
        dataset,
        attempted="target" in functions,
        grade=cast(PureGrade | None, given.grade),
        examined=given.grade is not None and waits(given.grade),
    )


def _refuse_what_it_does_itself(given: Given) -> None:
    """An environment puts its tasks and grades their answers: what else is given for that would count for nothing."""
    for name, idle in (("grade", given.grade is not None), ("settings.environment", "environment" in given.settings)):
        if idle:
            raise UsageError(f"{name} is given beside an environment.", hint="Take it away: the environment grades.")


def _plan_record(given: Given, own: Environment | None, plan: bytes) -> bytes:
    """Return what names the run: who grades belongs to it, though not to what is asked."""
    if own is not None:
        return named_in(plan, own)
    if given.grade is None:
        return plan
    settings = msgspec.json.decode(plan)
    settings["grade"] = f"{_name(given.grade)} {_version(given)}"
    return msgspec.json.encode(settings, order="sorted")


class _Models:
    """Makes the models section of a config out of what was given, and keeps the chats that no config can name."""

    def __init__(self, version: str) -> None:
        self._version = version
        self.chats: dict[str, Chat] = {}
        self.functions: set[str] = set()

    def of(
        self, role: str, given: object, made: Callable[[Callable[..., object], FunctionSettings], FunctionChat]
    ) -> Settings:
        """Return the section of a role."""
        if isinstance(given, Mapping):
            return cast("Settings", given)
        if hasattr(given, "send") and hasattr(given, "identity"):
            chat = cast("Chat", given)
            self.chats[role] = chat
            return {"backend": "function", "name": chat.identity.account, "version": chat.identity.model}
        if not callable(given):
            raise UsageError(
                f"The {role} is a {type(given).__name__}.",
                hint="Give a function, a Chat, or a model's settings such as {'backend': 'openai', …}.",
            )
        settings = FunctionSettings(name=_name(given), version=self._version)
        self.chats[role] = made(given, settings)
        self.functions.add(role)
        return {"backend": "function", "name": settings.name, "version": settings.version}


def _version(given: Given) -> str:
    """Return the version of the caller's functions; where answers outlive the process it has to be said."""
    version = given.keeping.get("version")
    functions = [each for each in (given.attempt, given.grade, given.optimizer) if callable(each)]
    if version is None and functions and "workspace" in given.keeping:
        raise UsageError(
            f"The function {_name(functions[0])} has no version, so nobody could tell whose answers are kept.",
            hint="Add version='1', and another one when a function changes.",
        )
    return _IN_MEMORY if version is None else version


def _name(function: object) -> str:
    return f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', type(function).__qualname__)}"


def _nobody(_messages: object) -> str:
    raise UsageError(
        "A task has a rubric, and nobody was named who could judge its answers.",
        hint="Give grade, or settings={'models': {'judge': {'backend': …}}}.",
    )


def _config(given: Given, models: Mapping[str, Settings]) -> Config:
    refused = sorted({"skill"} & given.settings.keys())
    if refused:
        raise UsageError("settings has a skill.", hint="Give it as the argument skill.")
    path = str(given.tasks) if isinstance(given.tasks, Path) else "."
    under = {"skill": None, "environment": {"kind": "dataset", "path": path}, "models": models}
    return typed(given.settings, under, Config, name="settings")


def _refuse_uncounted(config: Config, functions: set[str]) -> None:
    """A cap that nobody can hold is no cap."""
    for cap in ("tokens", "usd"):
        if functions and getattr(config.limits, cap) is not None:
            raise UsageError(
                f"limits.{cap} is set, but nobody knows how many tokens a function uses.",
                hint="Cap limits.calls or limits.seconds, or give a model's settings in place of the function.",
            )


def _skill(given: str | Path | Skill | None) -> Skill:
    if isinstance(given, Skill):
        return given
    if given is None:
        return Skill.blank()
    if isinstance(given, Path):
        return read_skill(Path.cwd(), str(given))
    if "\n" not in given and given.endswith(".md"):
        raise UsageError(f"The skill is the text {given!r}.", hint=f"For a file give Path({given!r}).")
    return Skill.from_files({SKILL_FILE: given}, name=None)


def _tasks(given: Tasks, settings: DatasetSettings, *, trains: bool) -> TaskSet:
    if isinstance(given, Path):
        loaded = Dataset.load(settings, Path.cwd(), shows_images=False).tasks
        return loaded if trains else TaskSet(test=tuple(task for split in SplitName for task in loaded.of(split)))
    if isinstance(given, Mapping):
        splits = {SplitName.parse(name): _rows(rows) for name, rows in given.items()}
        by_split = {split.value: splits.get(split, ()) for split in SplitName}
        if not trains:
            return TaskSet(test=tuple(task for rows in by_split.values() for task in rows))
        return TaskSet.checked(**by_split)
    rows = _rows(cast("Rows", given))
    if not trains:
        return TaskSet(test=rows)
    split = SplitSettings() if settings.split is None else settings.split
    cut = ratio_split(rows, split.ratio, split.seed)
    return TaskSet.checked(train=cut.train, val=cut.val, test=cut.test)


def _images(tasks: TaskSet, config: Config) -> Mapping[str, Image]:
    """Return the images that tasks show: found from the folder of their file, or from here where they have none."""
    images = read_images(tasks.all, home_of(config.environment, Path.cwd()))
    if config.environment.kind == "dataset":
        refuse_files(tasks)
        refuse_unseen(images, config.models.target)
    return images


def _rows(rows: Rows) -> tuple[Task, ...]:
    return tuple(row if isinstance(row, Task) else _task(row, number) for number, row in enumerate(rows, 1))


def _task(row: object, number: int) -> Task:
    try:
        return msgspec.convert(row, Task)
    except msgspec.ValidationError as error:
        raise UsageError(f"Task {number} cannot be used: {error}.", hint="It needs an id and an input.") from None
