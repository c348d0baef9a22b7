"""The environment of a config, for a target that is asked or one that is sent; and what sending it takes of the person.
Owns which of the two a config means; refuses to look for programs: a plan can be made on a machine that has none."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from skillopt.agents.settings import AgentSettings
from skillopt.app.config import CliModel, Config
from skillopt.app.project.trust import Asked
from skillopt.app.workspace import WORKSPACE
from skillopt.domain.errors import UsageError
from skillopt.environments.dataset import Dataset
from skillopt.environments.errands.dataset import AgentDataset
from skillopt.kernel.plugins.members import Members
from skillopt.kernel.ports import Environment


class Surroundings(NamedTuple):
    """An environment, what it brings besides what each must, and the digests of the files its tasks name."""

    environment: Environment
    members: Members
    contents: dict[str, str]


def surroundings(
    config: Config, root: Path, workspace: Path, dataset: Dataset, *, on_disk: bool = True
) -> Surroundings:
    """Return the environment of these tasks; `on_disk` says that they lie at the config's path."""
    if config.environment.kind == "dataset":
        if config.agent != AgentSettings():
            raise UsageError(
                "The section agent says how an agent works, and environment.kind is dataset: nobody would read it.",
                hint="Set environment.kind: agent, or take the section away.",
            )
        return Surroundings(dataset, Members(), {name: image.digest for name, image in dataset.images.items()})
    target = config.models.target
    if not isinstance(target, CliModel):
        raise UsageError(
            f"environment.kind is agent, and models.target is no agent but {target.__struct_config__.tag}.",
            hint="Name the backend of an agent's program: codex, claude_code, copilot, opencode or cursor.",
        )
    path = (root / config.environment.path).resolve()
    _refuse_data_with_answers(config.agent, root, tasks=path if on_disk else None, workspace=workspace)
    data = {name: (root / place).resolve() for name, place in config.agent.data_dirs.items()}
    environment = AgentDataset.of(dataset, path if path.is_dir() else path.parent, data)
    return Surroundings(environment, Members(errands=environment), environment.contents)


def asked_of(config: Config, root: Path) -> tuple[Asked, ...]:
    """Return what this person has to allow: each program that the project names, and running without a sandbox."""
    return tuple(_asked_of(config, root))


def _asked_of(config: Config, root: Path) -> Iterator[Asked]:
    sent = config.environment.kind == "agent"
    models = config.models
    named = {"agent.path": config.agent.path if sent else None} | {
        f"models.{role}.path": model.path
        for role, model in (("target", models.target), ("optimizer", models.optimizer), ("judge", models.judge))
        if isinstance(model, CliModel)
    }
    for key, path in named.items():
        if path is not None:
            place = (root / Path(path).expanduser()).absolute()
            yield Asked(key=key, words=f"the program {place}", digest=_digest("agent.path", place))
    if sent and config.agent.sandbox == "none":
        words = f"the agent unconfined, with all that you may do, for {root}"
        yield Asked(key="agent.sandbox: none", words=words, digest=_digest("agent.sandbox", root))


def _digest(key: str, place: Path) -> str:
    """Return what names a permission; a program that is replaced has to be allowed anew."""
    content = hashlib.sha256(f"{key} {place}\n".encode())
    if place.is_file():
        with place.open("rb") as program:
            content.update(hashlib.file_digest(program, "sha256").digest())
    return content.hexdigest()


def _refuse_data_with_answers(settings: AgentSettings, root: Path, *, tasks: Path | None, workspace: Path) -> None:
    """What an agent may read must hold no reference, no other task and no result of a run."""
    for name, place in settings.data_dirs.items():
        folder = (root / place).resolve()
        if not folder.is_dir():
            raise UsageError(f"agent.data_dirs.{name} names {folder}, which is no folder.", hint="Correct its path.")
        if tasks is not None and (tasks.is_relative_to(folder) or folder.is_relative_to(tasks)):
            raise UsageError(
                f"agent.data_dirs.{name} would show the agent {folder}, where the tasks with their answers are.",
                hint="Put what the agent may read into a folder of its own.",
            )
        results = (root.resolve(), workspace.resolve())
        within = folder.is_relative_to(results[1]) or WORKSPACE in folder.parts
        if within or any(each.is_relative_to(folder) for each in results):
            raise UsageError(
                f"agent.data_dirs.{name} would show the agent {folder}, where results of runs are.",
                hint="Put what the agent may read into a folder of its own.",
            )
