"""Turns a loaded configuration into a plan with its environment, and names the run.
Owns what must be right before anything is spent; refuses to know models' answers and journals."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import msgspec

from skillopt.app.config import Config, plan_bytes
from skillopt.app.models import references, refuse_unseen
from skillopt.app.project.errands import asked_of, surroundings
from skillopt.app.project.prompts import read_prompts
from skillopt.app.project.secrets import scrubbed_skill, scrubbed_tasks, scrubber
from skillopt.app.project.skills import read_skill
from skillopt.app.project.trust import Asked, Trust
from skillopt.app.settings.load import load
from skillopt.app.workspace import WORKSPACE
from skillopt.domain.errors import UsageError, unknown_name
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import SplitName, TaskSet
from skillopt.environments.command.program import Program, read_program
from skillopt.environments.dataset import Dataset
from skillopt.kernel.plugins.members import Members
from skillopt.kernel.ports import Chat, Environment
from skillopt.phases.prompting import Prompts
from skillopt.train.plan import Plan


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """A run that could start: everything read and checked, nothing spent.

    `chats` are models that the caller brought along, by role; `members` are what an environment of the caller's brings
    of its own. A run in memory has no folder and leaves nothing behind.
    """

    config: Config
    root: Path
    workspace: Path
    environment: Environment
    members: Members = Members()
    prompts: Prompts = Prompts()
    plan: Plan
    plan_record: bytes
    digest: str
    scrub: Callable[[str], str]
    program: Program | None = None
    trust: Trust = Trust()
    chats: Mapping[str, Chat] = MappingProxyType({})
    in_memory: bool = False

    @property
    def asked(self) -> tuple[Asked, ...]:
        """What the person has to allow before a run: what the project would have run on this machine."""
        grader = () if self.program is None else (Asked.of(self.program),)
        return (*grader, *asked_of(self.config, self.root))

    @property
    def default_name(self) -> str:
        """What the run is called unless a name is given: the beginning of its plan's digest."""
        return self.digest[:12]


def prepare(
    path: Path,
    *,
    sets: Sequence[str] = (),
    environ: Mapping[str, str],
    workspace: Path | None = None,
    scrub: Callable[[str], str] | None = None,
) -> Prepared:
    """Read a configuration with its skill and tasks; `scrub` takes secrets out of all that comes from outside."""
    loaded = load(path, Config, sets=sets, environ=environ)
    config, root = loaded.config, loaded.root
    scrub = scrubber(references(config.models)).text if scrub is None else scrub
    _refuse_tasks_inside_the_skill(root, config)
    skill, warnings = scrubbed_skill(read_skill(root, config.skill), scrub)
    _refuse_budgets_of_no_file(skill, config)
    dataset = Dataset.load(config.environment, root)
    loaded_tasks = scrubbed_tasks(dataset.tasks, scrub)
    if config.environment.kind == "dataset":
        refuse_files(loaded_tasks)
        refuse_unseen(dataset.images, config.models.target)
    tasks = msgspec.structs.replace(loaded_tasks, warnings=(*warnings, *loaded_tasks.warnings))
    plan = Plan(
        seed_skill=skill,
        tasks=tasks,
        train=config.train,
        optimizer=config.optimizer,
        search=config.search,
        stop=config.stop,
        test=config.test,
    )
    prompts = read_prompts(root, config.prompts, scrub)
    command = config.environment.command
    program = None if command is None else read_program(command, root, root / config.environment.path)
    place = root / WORKSPACE if workspace is None else workspace.resolve()
    around = surroundings(config, root, place, Dataset(config.environment, tasks, dataset.images))
    digest = None if program is None else program.digest
    record = plan_bytes(config, skill, tasks, prompts, program=digest, contents=around.contents)
    return Prepared(
        config=config,
        root=root,
        workspace=place,
        environment=around.environment,
        members=around.members,
        scrub=scrub,
        prompts=prompts,
        plan=plan,
        plan_record=record,
        digest=hashlib.sha256(record).hexdigest(),
        program=program,
        trust=Trust.of(environ),
    )


def refuse_files(tasks: TaskSet) -> None:
    """A file that nobody opens must not look as if it counted: a chat model has no folder to open it from."""
    for split in SplitName:
        for task in tasks.of(split):
            if task.files:
                raise UsageError(
                    f"Task {task.id!r} ({split.value}) has files, which are for agents: a chat model cannot open them.",
                    hint="Put text into the task's context, pictures into images, or use environment.kind: agent.",
                )


def _refuse_budgets_of_no_file(skill: Skill, config: Config) -> None:
    """A budget for a file that the skill has not would limit nothing."""
    paths = [file.path for file in skill.files]
    for path in config.optimizer.file_budgets:
        if path not in paths:
            raise unknown_name("file in optimizer.file_budgets", path, paths)


def _refuse_tasks_inside_the_skill(root: Path, config: Config) -> None:
    """A skill folder is part of what a model may see; tasks with their answers must not be."""
    if config.skill is None:
        return
    skill, tasks = (root / config.skill).resolve(), (root / config.environment.path).resolve()
    if skill.is_dir() and tasks.is_relative_to(skill):
        raise UsageError(
            f"The tasks at {config.environment.path} lie inside the skill's folder {config.skill}.",
            hint="Put the skill into a folder of its own, beside the tasks.",
        )
