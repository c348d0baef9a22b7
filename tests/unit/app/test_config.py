"""What names a run: the digest of its plan."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
import yaml

from skillopt.app.config import Config, Model, ScriptedModel, plan_bytes, plan_difference
from skillopt.app.settings.layers import dotted
from skillopt.app.settings.load import load
from skillopt.app.settings.schema import leaves
from skillopt.backends.openai_chat import OpenAISettings
from skillopt.domain.errors import UsageError
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import Task, TaskSet
from tests.unit.app.projects import over_http, settings

SKILL = Skill.from_text("Be brief.\n")
TASKS = TaskSet(
    train=(Task(id="a", input="1 + 1?", reference="2"), Task(id="b", input="1 + 2?", reference="3")),
    val=(Task(id="c", input="2 + 2?", reference="4"),),
    test=(Task(id="d", input="3 + 3?", reference="6"),),
)

# what decides nothing that is asked or answered: where things are, who pays, how long to wait, how much to spend
IGNORED = {
    "environment.path": "elsewhere",
    "prompts": "elsewhere",
    "environment.allow_paths": "[data]",
    "models.target.api_key": "'${SOME_KEY}'",
    "models.target.headers": "{x-title: mine}",
    "models.target.timeout": "7.5",
    "models.target.stall_seconds": "7.5",
    "models.target.price": "{input: 1.0, output: 2.0}",
    "models.target.image_tokens": "2000",
    "limits.calls": "10",
    "limits.tokens": "10",
    "limits.usd": "1.5",
    "limits.seconds": "2.5",
    "limits.concurrency": "auto",
    "limits.speculation": "3",
    "prune.group": "2",
    "prune.margin": "0.1",
    "prune.alpha": "0.1",
    "prune.trials": "3",
    "limits.confirm_usd": "2.5",
    "retry.attempts": "2",
    "retry.seconds": "2.5",
    "retry.first_wait": "2.5",
    "retry.longest_wait": "2.5",
}
VARIED = {
    "environment.grader": "contains",
    "environment.answer": "full",
    "environment.split": "{ratio: [1, 1, 1]}",
    "environment.limit.train": "1",
    "environment.limit.val": "1",
    "environment.limit.test": "1",
    "environment.prompt.system": "'{skill}!'",
    "environment.prompt.user": "'{input}!'",
    "models.target.base_url": "http://127.0.0.1:2/v1",
    "models.target.model": "another",
    "models.target.organization": "another",
    "models.target.temperature": "0.5",
    "models.target.max_tokens": "17",
    "models.target.max_tokens_field": "max_completion_tokens",
    "models.target.reasoning_effort": "low",
    "models.target.seed": "3",
    "models.target.extra_body": "{top_k: 3}",
    "models.target.stream": "true",
    "models.target.alias": "mine",
    "models.target.api": "responses",
    "models.target.preset": "vllm",
    "models.judge.use": "target",
    "judge.repeats": "3",
    "judge.mode": "pairwise",
    "judge.threshold": "0.7",
    "train.epochs": "9",
    "train.batch_size": "9",
    "train.accumulation": "9",
    "train.seed": "9",
    "reflect.minibatch_size": "9",
    "reflect.failures_only": "true",
    "reflect.show_references": "true",
    "reflect.show_trace": "false",
    "reflect.transcript_tokens": "900",
    "reflect.prompt_tokens": "900",
    "reflect.ledger": "false",
    "aggregate.fan_in": "9",
    "aggregate.ask": "always",
    "optimizer.mode": "rewrite_from_suggestions",
    "optimizer.budget_control": "autonomous",
    "optimizer.repair": "false",
    "optimizer.file_budgets": "{references/a.md: 1}",
    "optimizer.edit_scripts": "true",
    "optimizer.edit_description": "true",
    "optimizer.edit_budget": "9",
    "optimizer.min_edit_budget": "0",
    "optimizer.schedule": "linear",
    "optimizer.slow_update.enabled": "false",
    "optimizer.slow_update.samples": "9",
    "optimizer.slow_update.pairs": "changed",
    "optimizer.slow_update.accept": "force",
    "optimizer.meta_skill": "false",
    "optimizer.skill_aware.enabled": "true",
    "optimizer.skill_aware.source": "failures",
    "optimizer.skill_aware.consolidate_above": "9",
    "optimizer.skill_aware.accept": "force",
    "gate.rule": "force",
    "gate.metric": "soft",
    "gate.weight": "0.25",
    "gate.bisect": "true",
    "gate.bisect_levels": "2",
    "gate.max_failed": "0.25",
    "gate.alpha": "0.1",
    "gate.control": "run",
    "gate.known_trials": "2",
    "gate.wave": "5",
    "gate.deterministic": "true",
    "gate.guard": "block",
    "gate.small_val": "strict",
    "search.frontier": "3",
    "search.merge_every": "2",
    "stop.when": "never",
    "stop.patience": "3",
    "stop.target": "0.9",
    "test": "[best]",
}
# how an agent works: it names a run where there is an agent
AGENT_IGNORED = {
    "agent.timeout": "7.5",
    "agent.at_once": "2",
    "agent.most_tokens": "10",
    "agent.path": "elsewhere",
}
AGENT_VARIED = {
    "agent.mode": "auto",
    "agent.skill": "told",
    "agent.files": "read",
    "agent.tools": "[Read]",
    "agent.permission": "plan",
    "agent.profile": "mine",
    "agent.effort": "low",
    "agent.thinking_tokens": "100",
    "agent.network": "true",
    "agent.web_search": "true",
    "agent.data_dirs": "{docs: docs}",
    "agent.preamble": "Mind this.",
    "agent.structured": "false",
    "agent.empty_retries": "3",
    "agent.sandbox": "none",
}
# what has no meaning beside these: test_models_with_other_settings_name_a_run_by_what_they_ask has them
ELSEWHERE = {"models.target.region", "models.target.thinking", "models.target.stages"}
CONTENT = {"skill", "environment.command"}  # by what is in the files, not by their paths: see test_prepare
ONE_VALUE = {"environment.kind", "models.target.backend", "models.judge.backend", "optimizer.mode"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    written = tmp_path / "skillopt.yaml"
    written.write_text(json.dumps(settings(models=over_http("http://127.0.0.1:1/v1"), limits={})), encoding="utf-8")
    return written


def read(path: Path, sets: Sequence[str] = ()) -> Config:
    return load(path, Config, sets=sets, environ={}).config


def plan_of(path: Path, sets: Sequence[str] = ()) -> bytes:
    return plan_bytes(read(path, sets), SKILL, TASKS)


def test_every_setting_is_known_to_name_a_run_or_not(path: Path) -> None:
    known = {dotted(leaf) for leaf, _ in leaves(read(path))}
    roles = {key.replace("models.target.", "models.optimizer.") for key in (*IGNORED, *VARIED, *ONE_VALUE, *ELSEWHERE)}
    assert known == {*IGNORED, *VARIED, *CONTENT, *ONE_VALUE, *ELSEWHERE, *AGENT_IGNORED, *AGENT_VARIED, *roles}


@pytest.mark.parametrize("key", IGNORED)
@pytest.mark.parametrize("role", ["target", "optimizer"])
def test_a_setting_that_changes_no_answer_names_no_other_run(path: Path, key: str, role: str) -> None:
    flag = f"{key.replace('target', role)}={IGNORED[key]}"
    assert read(path, [flag]) != read(path)
    assert plan_of(path, [flag]) == plan_of(path)


@pytest.mark.parametrize("key", VARIED)
@pytest.mark.parametrize("role", ["target", "optimizer"])
def test_every_other_setting_names_another_run(path: Path, key: str, role: str) -> None:
    of_role = key.replace("models.target.", f"models.{role}.")
    differing = plan_difference(plan_of(path), plan_of(path, [f"{of_role}={VARIED[key]}"]))
    assert [one for one in differing if one == of_role or one.startswith(f"{of_role}.")]


def of_an_agent(path: Path, *flags: str) -> bytes:
    """Return the plan of the same run with an agent as its target."""
    tree = json.loads(path.read_text())
    tree["environment"]["kind"] = "agent"
    tree["models"]["target"] = {"backend": "codex", "model": "m", "base_url": "http://127.0.0.1:1/v1"}
    written = path.with_name("agent.yaml")
    written.write_text(json.dumps(tree), encoding="utf-8")
    return plan_of(written, flags)


@pytest.mark.parametrize("key", AGENT_IGNORED)
def test_what_changes_nothing_an_agent_does_names_no_other_run(path: Path, key: str) -> None:
    assert of_an_agent(path, f"{key}={AGENT_IGNORED[key]}") == of_an_agent(path)


@pytest.mark.parametrize("key", AGENT_VARIED)
def test_how_an_agent_works_names_a_run_where_there_is_one(path: Path, key: str) -> None:
    flag = f"{key}={AGENT_VARIED[key]}"
    differing = plan_difference(of_an_agent(path), of_an_agent(path, flag))
    assert [one for one in differing if one == key or one.startswith(f"{key}.")]
    assert plan_of(path, [flag]) == plan_of(path)


def test_the_address_of_a_model_with_an_alias_is_only_where_it_is(path: Path) -> None:
    def flags(port: int) -> list[str]:
        return ["models.target.alias=mine", f"models.target.base_url=http://127.0.0.1:{port}/v1"]

    assert plan_of(path, flags(1)) == plan_of(path, flags(2))


AZURE = "backend: azure, endpoints: [https://a.openai.azure.com], model: d, api_key: '${K}'"
CLAUDE = "backend: anthropic, model: c, max_tokens: 9000"
MINIMAX = "backend: openai, preset: minimax, model: MiniMax-M3"
CODEX = "backend: codex, model: m, base_url: http://127.0.0.1:1/v1"
COPILOT = "backend: copilot, model: m, base_url: http://127.0.0.1:1/v1"
CLAUDE_CODE = "backend: claude_code, model: m"
BASE_MODEL = "backend: completions, base_url: http://127.0.0.1:1/v1, model: b"


@pytest.mark.parametrize(
    ("model", "more", "same"),
    [
        (AZURE, "api_key: '${OTHER}'", True),
        (AZURE, "allow_hosts: [gateway.example.com]", True),
        (AZURE, "scope: another", True),
        (AZURE, "stages: {rollout: {timeout: 900}}", True),
        (AZURE, "stages: {rollout: {timeout: 900, temperature: 0.0}}", False),
        (AZURE, "api: responses", False),
        (AZURE, "api_version: '2024-10-21'", False),
        (AZURE, "endpoints: [https://b.openai.azure.com]", False),
        (CLAUDE, "thinking_budget: 2048", False),
        (CLAUDE, "version: '2099-01-01'", False),
        (CLAUDE, "base_url: https://gateway.example.com/v1", False),
        (MINIMAX, "thinking: enabled", False),
        (MINIMAX, "region: cn_zh", False),
        (MINIMAX, "api_key: '${OTHER}'", True),
        (CODEX, "api_key: '${OTHER}'", True),
        (CODEX, "path: elsewhere/codex", True),
        (CODEX, "timeout: 7.5", True),
        (CODEX, "price: {input: 1.0, output: 2.0}", True),
        (CODEX, "model: another", False),
        (CODEX, "effort: low", False),
        (COPILOT, "wire: responses", False),
        (CODEX, "max_tokens: 17", False),
        (CODEX, "base_url: http://127.0.0.1:2/v1", False),
        (CODEX, "alias: mine", False),
        (CLAUDE_CODE, "path: elsewhere/claude", True),
        (CLAUDE_CODE, "effort: low", False),
        (BASE_MODEL, "stop: ['###']", False),
        (BASE_MODEL, "template: {ask: 'A:'}", False),
        (BASE_MODEL, "seed: 3", False),
    ],
)
def test_models_with_other_settings_name_a_run_by_what_they_ask(
    path: Path, model: str, more: str, *, same: bool
) -> None:
    def named(text: str) -> bytes:
        tree = json.loads(path.read_text())
        tree["models"]["target"] = yaml.safe_load("{" + text + "}")
        written = path.with_name("other.yaml")
        written.write_text(json.dumps(tree), encoding="utf-8")
        return plan_of(written)

    key = more.partition(":")[0]
    fewer = ", ".join(part for part in model.split(", ") if not part.startswith(f"{key}:"))
    assert (named(f"{fewer}, {more}") == named(model)) is same


@pytest.mark.parametrize(
    ("model", "other"),
    [
        (f"{AZURE}, alias: x", {"endpoints": ["https://b.openai.azure.com"]}),
        (f"{MINIMAX}, alias: x", {"region": "cn_zh"}),
        (f"{CLAUDE}, alias: x", {"base_url": "https://gateway.example.com/v1"}),
        (f"{CODEX}, alias: x", {"base_url": "https://gateway.example.com/v1"}),
    ],
)
def test_with_an_alias_every_kind_of_address_is_only_where_it_is(
    path: Path, model: str, other: dict[str, object]
) -> None:
    def named(changes: dict[str, object]) -> bytes:
        tree = json.loads(path.read_text())
        tree["models"]["target"] = {**yaml.safe_load("{" + model + "}"), **changes}
        written = path.with_name("other.yaml")
        written.write_text(json.dumps(tree), encoding="utf-8")
        return plan_of(written)

    assert named({}) == named(other)


def test_the_skill_names_a_run_by_its_text(path: Path) -> None:
    config = read(path)
    assert plan_bytes(config, SKILL, TASKS) == plan_bytes(read(path, ["skill=OTHER.md"]), SKILL, TASKS)
    changed = plan_bytes(config, Skill.from_text("Be brief!\n"), TASKS)
    assert plan_difference(plan_bytes(config, SKILL, TASKS), changed) == ("skill",)


CHANGES = [
    {"id": "z"},
    {"input": "1+1?"},
    {"context": "Sums."},
    {"reference": "two"},
    {"type": "sum"},
    {"rubric": "Fair."},
    {"group": "g"},
    {"files": ("a.txt",)},
]


@pytest.mark.parametrize("split", ["train", "val", "test"])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_each_task_names_a_run(path: Path, split: str, change: dict[str, object]) -> None:
    tasks: tuple[Task, ...] = getattr(TASKS, split)
    changed = msgspec.structs.replace(TASKS, **{split: (*tasks[:-1], msgspec.structs.replace(tasks[-1], **change))})
    before, after = plan_of(path), plan_bytes(read(path), SKILL, changed)
    assert plan_difference(before, after) == (f"environment.path.{split}",)


def test_the_order_of_tasks_and_an_added_task_name_a_run(path: Path) -> None:
    turned = msgspec.structs.replace(TASKS, train=TASKS.train[::-1])
    longer = msgspec.structs.replace(TASKS, test=(*TASKS.test, Task(id="e", input="?", reference="!")))
    records = {plan_bytes(read(path), SKILL, tasks) for tasks in (TASKS, turned, longer)}
    assert len(records) == 3


def test_a_difference_names_dotted_keys_that_came_and_went() -> None:
    old = b'{"a": {"b": 1, "c": {}}, "d": [1]}'
    new = b'{"a": {"b": 2, "e": null}, "d": [1]}'
    assert plan_difference(old, new) == ("a.b", "a.c")
    assert plan_difference(old, old) == ()


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ({"backend": "scripted", "scenario": "ruels"}, "Did you mean 'rules'?"),
        ({"backend": "scripted", "scenario": "rules,rte=0.3"}, "Did you mean 'rate'?"),
        ({"backend": "scripted", "scenario": "rules,kinds=rate_limt"}, "Did you mean 'rate_limit'?"),
        ({"backend": "scripted", "scenario": "rules,at=3:atuh"}, "Did you mean 'auth'?"),
        ({"backend": "openai", "base_url": "127.0.0.1:80", "model": "m"}, "no http:// or https://"),
    ],
)
def test_a_model_that_cannot_be_is_refused_when_it_is_read(model: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        msgspec.convert(model, Model)
    assert said in str(refused.value)


def test_models_are_told_apart_by_their_backend() -> None:
    assert isinstance(msgspec.convert({"backend": "scripted", "scenario": "rules"}, Model), ScriptedModel)
    url = {"backend": "openai", "base_url": "http://127.0.0.1/v1", "model": "m"}
    assert isinstance(msgspec.convert(url, Model), OpenAISettings)


@pytest.mark.parametrize(
    ("flag", "said"),
    [
        ("test=[best, best]", "test names a skill twice"),
        ("optimizer.min_edit_budget=9", "min_edit_budget 9 is larger than edit_budget"),
        ("gate.weight=1.5", "from 0 to 1"),
        ("gate.max_failed=-0.1", "from 0 to 1"),
        ("gate.alpha=0.5", "less than 0.5"),
        ("gate.known_trials=4", "1, 2 or 3"),
        ("gate.wave=0", "at least 1"),
        ("stop.target=85", "from 0 to 1"),
        ("stop.patience=-1", "0 or more"),
        ("environment.answer={regex: '('}", "environment"),
        ("environment.split={ratio: [1, 0, 1]}", "A split ratio of"),
        ("train.batch_size=0", "at least 1"),
        ("aggregate.fan_in=1", "at least 2"),
        ("optimizer.file_budgets={SKILL.md: -1}", "0 or more"),
        ("optimizer.mode=rewrite", "rewrite_from_suggestions"),
        ("optimizer.budget_control=auto", "autonomous"),
        ("limits.speculation=-1", "limits.speculation"),
        ("judge.repeats=0", "judge.repeats"),
        ("judge.threshold=80", "judge.threshold"),
        ("judge.mode=pairwies", "Did you mean 'pairwise'?"),
        ("judge.repaets=3", "Did you mean 'repeats'?"),
        ("models.judge.use=optimiser", "Did you mean 'optimizer'?"),
        ("models.judge={model: mine}", "models.judge.backend"),
    ],
)
def test_what_cannot_work_is_said_before_anything_is_read_or_spent(path: Path, flag: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        read(path, [flag])
    assert said in str(refused.value)


def test_the_judge_is_another_role_or_a_model_of_its_own(path: Path) -> None:
    assert read(path).models.judging == read(path).models.optimizer
    assert read(path, ["models.judge={use: target}"]).models.judging == read(path).models.target
    own = read(path, ["models.judge={backend: scripted, scenario: rules}"]).models
    assert own.judging == own.judge == ScriptedModel(scenario="rules")
    by_its_tag = read(path, ["models.judge={backend: use, use: target}"])
    assert by_its_tag == read(path, ["models.judge={use: target}"])
    assert plan_difference(plan_of(path), plan_of(path, ["models.judge={backend: scripted, scenario: rules}"])) == (
        "models.judge.backend",
        "models.judge.max_tokens",
        "models.judge.scenario",
        "models.judge.use",
    )


def test_a_budget_that_has_no_say_is_refused(path: Path) -> None:
    with pytest.raises(UsageError, match="has no say in mode full_rewrite_minibatch"):
        read(path, ["optimizer.mode=full_rewrite_minibatch", "optimizer.budget_control=autonomous"])
