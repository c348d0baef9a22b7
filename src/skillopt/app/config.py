"""The configuration file: which sections there are. Each section is defined beside the code that reads it.
Owns the models section and the digest that names a run; refuses to know how files are read."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

import msgspec

from skillopt.agents.claude_code.settings import ClaudeCodeSettings
from skillopt.agents.codex.adapter import CodexSettings
from skillopt.agents.copilot.adapter import CopilotSettings
from skillopt.agents.cursor.adapter import CursorSettings
from skillopt.agents.opencode.adapter import OpenCodeSettings
from skillopt.agents.settings import AgentSettings
from skillopt.backends.anthropic import AnthropicSettings
from skillopt.backends.azure.chat import AzureSettings
from skillopt.backends.completions import CompletionsSettings
from skillopt.backends.function import FunctionSettings
from skillopt.backends.handoff import HandoffSettings
from skillopt.backends.openai_chat import OpenAISettings
from skillopt.backends.settings import StageSettings, check_stages
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import SplitName, TaskSet
from skillopt.environments.dataset import DatasetSettings
from skillopt.kernel.limits.terms import LimitSettings
from skillopt.kernel.payment.retry import RetrySettings
from skillopt.kernel.work import Stage
from skillopt.phases.aggregate import AggregateSettings
from skillopt.phases.gate import GateSettings
from skillopt.phases.judging.settings import JudgeSettings
from skillopt.phases.prompting import Prompts
from skillopt.phases.reflect import ReflectSettings
from skillopt.testing.brains import brain_named
from skillopt.testing.scenario import parse_scenario
from skillopt.train.pruning.settings import PruneSettings
from skillopt.train.settings import OptimizerSettings, SearchSettings, StopSettings, TestedSkill, TrainSettings

_NO_PART_OF_A_PLAN = ("limits", "prune", "retry")
_DECIDES_NOTHING = (
    "api_key",
    "headers",
    "price",
    "image_tokens",
    "login",
    "client_id",
    "scope",
    "allow_hosts",
    "folder",
    "path",
)
_AGENT_DECIDES_NOTHING = ("timeout", "at_once", "most_tokens", "path")
_HOW_LONG = ("timeout", "stall_seconds")
_WHERE = ("base_url", "region", "endpoints")


class ScriptedModel(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="scripted", tag_field="backend"
):
    """A scripted model in this process, for demos and tests; only ever by this name.

    scenario: Which scripted model answers, and what goes wrong on purpose, such as `rules` or `rules,rate=0.1`.
    max_tokens: The most tokens of one reply.
    timeout: The most seconds one request may take.
    stages: What single stages change of this model, such as `{rewrite: {max_tokens: 64000}}`.
    """

    scenario: str
    max_tokens: int = 4096
    timeout: float = 60.0
    stages: dict[Stage, StageSettings] = {}

    def __post_init__(self) -> None:
        brain_named(parse_scenario(self.scenario).brain)
        if self.max_tokens < 1 or self.timeout <= 0:
            raise ValueError("max_tokens must be at least 1, and timeout more than 0")
        check_stages(self.stages, self.__struct_fields__)


WiredModel = OpenAISettings | CompletionsSettings | AzureSettings | AnthropicSettings


class FunctionModel(
    FunctionSettings, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="function", tag_field="backend"
):
    """A function of yours, given to `skillopt.optimize` in Python; a config file alone cannot give one."""


CliModel = CodexSettings | ClaudeCodeSettings | CopilotSettings | OpenCodeSettings | CursorSettings
Model = WiredModel | CliModel | HandoffSettings | ScriptedModel | FunctionModel


def role_at(stage: Stage) -> str:
    """Return the role that a stage asks."""
    return {"rollout": "target", "judge": "judge"}.get(stage, "optimizer")


def stages_of(model: Model) -> dict[Stage, StageSettings]:
    """Return what single stages change of a model; one behind an agent's program is the same at all of them."""
    return {} if isinstance(model, CliModel) else model.stages


def title_of(model: Model) -> str:
    """Return what a model is called: its backend and its own name."""
    names = ("model", "scenario", "name")
    own = next((getattr(model, name) for name in names if hasattr(model, name)), "") or "its own choice"
    return f"{model.__struct_config__.tag}:{own}"


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

    def __post_init__(self) -> None:
        own = {"target": self.target, "optimizer": self.optimizer}
        if not isinstance(self.judge, UseRole):
            own["judge"] = self.judge
        for role, model in own.items():
            for stage in stages_of(model):
                if self.player_at(stage) != role:
                    raise ValueError(
                        f"{role}.stages.{stage}: that stage asks the {self.player_at(stage)}, not this model"
                    )

    def player_at(self, stage: Stage) -> str:
        """Return whose model is asked at a stage."""
        role = role_at(stage)
        return self.judge.use if role == "judge" and isinstance(self.judge, UseRole) else role

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
    agent: How the target works where it is an agent.
    train: How long the training is, and in what portions.
    prompts: A folder of Markdown files that take the place of prompts of the same name; null uses those of skillopt.
    reflect: What the optimizer is shown.
    aggregate: How proposals become one patch.
    optimizer: How the skill is changed, and how much in a step.
    gate: When a change is kept.
    judge: How answers to tasks with a rubric are judged.
    search: Whether several skills are improved side by side.
    stop: What ends a run before its last step.
    test: Which skills are scored on the test tasks at the end; it decides nothing.
    prune: How `skillopt prune` decides that a passage does nothing.
    limits: Caps of the whole run, and how much goes on at once.
    retry: How often and how long a failed request is tried again.
    """

    skill: str | None
    environment: DatasetSettings
    models: Models
    agent: AgentSettings = AgentSettings()
    train: TrainSettings = TrainSettings()
    prompts: str | None = None
    reflect: ReflectSettings = ReflectSettings()
    aggregate: AggregateSettings = AggregateSettings()
    optimizer: OptimizerSettings = OptimizerSettings()
    gate: GateSettings = GateSettings()
    judge: JudgeSettings = JudgeSettings()
    search: SearchSettings = SearchSettings()
    stop: StopSettings = StopSettings()
    test: tuple[TestedSkill, ...] = ("initial", "best", "last")
    prune: PruneSettings = PruneSettings()
    limits: LimitSettings = LimitSettings()
    retry: RetrySettings = RetrySettings()

    def __post_init__(self) -> None:
        if len(set(self.test)) < len(self.test):
            raise ValueError("test names a skill twice")


def plan_bytes(
    config: Config,
    skill: Skill,
    tasks: TaskSet,
    prompts: Prompts = Prompts(),
    *,
    program: str | None = None,
    contents: Mapping[str, str] = MappingProxyType({}),
) -> bytes:
    """Return what names a run: all that decides what it asks. Paths, keys and limits do not; contents do.

    The digest of the program that grades stands for its files, and one over the `contents` of whatever tasks name.
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
    for key in _AGENT_DECIDES_NOTHING:
        del settings["agent"][key]
    settings["agent"]["data_dirs"] = sorted(config.agent.data_dirs)
    if config.environment.kind == "dataset":
        del settings["agent"]
    if contents:
        settings["environment"]["contents"] = hashlib.sha256(msgspec.json.encode(sorted(contents.items()))).hexdigest()
    if program is not None:
        settings["environment"]["command"]["files"] = program
    for model in settings["models"].values():
        for key in (*_DECIDES_NOTHING, *_HOW_LONG, *(_WHERE if model.get("alias") is not None else ())):
            model.pop(key, None)
        if "stages" in model:
            model["stages"] = {stage: asked for stage, given in model["stages"].items() if (asked := _asked(given))}
        if not model.get("stages"):
            model.pop("stages", None)
    return msgspec.json.encode(settings, order="sorted")


def _asked(stage: Mapping[str, object]) -> dict[str, object]:
    """Return what a stage changes of what is asked."""
    return {name: value for name, value in stage.items() if value is not None and name not in _HOW_LONG}


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
