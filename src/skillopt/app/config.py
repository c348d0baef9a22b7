"""The configuration file: which sections there are. Each section is defined beside the code that reads it.
Owns the models section and the digest that names a run; refuses to know how files are read."""

from __future__ import annotations

import hashlib
from typing import Literal

import msgspec

from skillopt.backends.http import parse_url
from skillopt.backends.openai_chat import OpenAISettings
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import SplitName, TaskSet
from skillopt.environments.dataset import DatasetSettings
from skillopt.kernel.limits.terms import LimitSettings
from skillopt.kernel.payment.retry import RetrySettings
from skillopt.phases.aggregate import AggregateSettings
from skillopt.phases.gate import GateSettings
from skillopt.phases.judging.settings import JudgeSettings
from skillopt.phases.prompting import Prompts
from skillopt.phases.reflect import ReflectSettings
from skillopt.testing.brains import brain_named
from skillopt.testing.scenario import parse_scenario
from skillopt.train.pruning.settings import PruneSettings
from skillopt.train.settings import OptimizerSettings, StopSettings, TestedSkill, TrainSettings

_NO_PART_OF_A_PLAN = ("limits", "prune", "retry")
_ONLY_AN_ADDRESS = ("api_key", "headers", "timeout", "stall_seconds", "price")


class OpenAIModel(
    OpenAISettings, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="openai", tag_field="backend"
):
    """A model behind any OpenAI-compatible server.

    api_key: The key as a reference, `${NAME}`, or the word `none`; api.openai.com has OPENAI_API_KEY unless given.
    """

    api_key: str | None = None

    def __post_init__(self) -> None:
        parse_url(self.base_url)
        if self.max_tokens < 1 or min(self.timeout, self.stall_seconds) <= 0:
            raise ValueError("max_tokens must be at least 1, and timeout and stall_seconds more than 0")


class ScriptedModel(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="scripted", tag_field="backend"
):
    """A scripted model in this process, for demos and tests; only ever by this name.

    scenario: Which scripted model answers, and what goes wrong on purpose, such as `rules` or `rules,rate=0.1`.
    max_tokens: The most tokens of one reply.
    timeout: The most seconds one request may take.
    """

    scenario: str
    max_tokens: int = 4096
    timeout: float = 60.0

    def __post_init__(self) -> None:
        brain_named(parse_scenario(self.scenario).brain)
        if self.max_tokens < 1 or self.timeout <= 0:
            raise ValueError("max_tokens must be at least 1, and timeout more than 0")


Model = OpenAIModel | ScriptedModel


class UseRole(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="use", tag_field="backend"):
    """Another role's model; the key `use` is enough to choose this form.

    use: Whose model it is.
    """

    use: Literal["optimizer", "target"] = "optimizer"


class Models(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Config section `models`: who is taught, who writes edits, who judges.

    target: The model that does the tasks with the skill in front of it.
    optimizer: The model that reads graded answers and proposes edits.
    judge: The model that grades by rubric: that of another role, or one of its own.
    """

    target: Model
    optimizer: Model
    judge: UseRole | Model = UseRole()

    @property
    def judging(self) -> Model:
        """The model that judges, whoever's it is."""
        if isinstance(self.judge, UseRole):
            return self.target if self.judge.use == "target" else self.optimizer
        return self.judge


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole configuration; paths start from the folder of the file.

    skill: The Markdown file, or the folder with SKILL.md, to be trained; null starts from nothing.
    environment: Where the tasks come from, how they are put and how answers are graded.
    models: Who plays each role.
    train: How long the training is, and in what portions.
    prompts: A folder of Markdown files that take the place of prompts of the same name; null uses those of skillopt.
    reflect: What the optimizer is shown.
    aggregate: How proposals become one patch.
    optimizer: How the skill is changed, and how much in a step.
    gate: When a change is kept.
    judge: How answers to tasks with a rubric are judged.
    stop: What ends a run before its last step.
    test: Which skills are scored on the test tasks at the end; it decides nothing.
    prune: How `skillopt prune` decides that a passage does nothing.
    limits: Caps of the whole run, and how much goes on at once.
    retry: How often and how long a failed request is tried again.
    """

    skill: str | None
    environment: DatasetSettings
    models: Models
    train: TrainSettings = TrainSettings()
    prompts: str | None = None
    reflect: ReflectSettings = ReflectSettings()
    aggregate: AggregateSettings = AggregateSettings()
    optimizer: OptimizerSettings = OptimizerSettings()
    gate: GateSettings = GateSettings()
    judge: JudgeSettings = JudgeSettings()
    stop: StopSettings = StopSettings()
    test: tuple[TestedSkill, ...] = ("initial", "best", "last")
    prune: PruneSettings = PruneSettings()
    limits: LimitSettings = LimitSettings()
    retry: RetrySettings = RetrySettings()

    def __post_init__(self) -> None:
        if len(set(self.test)) < len(self.test):
            raise ValueError("test names a skill twice")


def plan_bytes(
    config: Config, skill: Skill, tasks: TaskSet, prompts: Prompts = Prompts(), program: str | None = None
) -> bytes:
    """Return what names a run: all that decides what it asks. Paths, keys and limits do not; contents do.

    The digest of the program that grades stands for its files.
    """
    settings = msgspec.to_builtins(config)
    for section in _NO_PART_OF_A_PLAN:
        del settings[section]
    settings["skill"] = skill.digest
    settings["prompts"] = prompts.digest
    settings["environment"]["path"] = {
        split.value: hashlib.sha256(msgspec.json.encode(tasks.of(split))).hexdigest() for split in SplitName
    }
    del settings["environment"]["allow_paths"]
    if program is not None:
        settings["environment"]["command"]["files"] = program
    for model in settings["models"].values():
        for key in _ONLY_AN_ADDRESS:
            model.pop(key, None)
        if model.get("alias") is not None:
            del model["base_url"]
    return msgspec.json.encode(settings, order="sorted")


def plan_difference(old: bytes, new: bytes) -> tuple[str, ...]:
    """Return the dotted keys in which two plans differ."""
    before, after = _flat(msgspec.json.decode(old)), _flat(msgspec.json.decode(new))
    return tuple(sorted(key for key in before | after if before.get(key) != after.get(key)))


def _flat(value: object, path: str = "") -> dict[str, object]:
    if not isinstance(value, dict) or not value:
        return {path: value}
    flat: dict[str, object] = {}
    for key, inner in value.items():
        flat.update(_flat(inner, f"{path}.{key}" if path else str(key)))
    return flat
