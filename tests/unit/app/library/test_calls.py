from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skillopt.app.library.calls import aevaluate, aoptimize, evaluate, optimize
from skillopt.app.library.results import Optimized
from skillopt.domain.errors import AuthError, ProviderError, SkilloptError, UnavailableError, UsageError
from skillopt.domain.tasks import Task
from skillopt.kernel.events import Event, RunEnded, Signal
from skillopt.testing.scripted import ScriptedChat
from skillopt.testing.worlds import rules_world
from tests.unit.app.library.sums import LESSON, SEED, ask, attempt, sums

EVEN: dict[str, Any] = {"environment": {"split": {"ratio": [1, 1, 1]}}, "train": {"epochs": 1}}


class Counted:
    """An agent that counts how often it is asked."""

    def __init__(self) -> None:
        self.calls = 0

    async def __call__(self, skill: str, task: Task) -> str:
        self.calls += 1
        return attempt(skill, task)


def given(**more: object) -> dict[str, Any]:
    """Return the usual arguments, and others in their place."""
    return {"skill": SEED, "tasks": sums(), "attempt": attempt, "optimizer": ask, "settings": EVEN, **more}


def optimized(**more: object) -> Optimized:
    return optimize(**given(**more))


def test_a_skill_is_improved_by_plain_functions() -> None:
    result = optimized()
    assert LESSON in result.skill.text
    scores = result.summary.scores
    assert (scores.baseline.test, scores.best.test) != (None, None)
    assert scores.baseline.test is not None
    assert scores.best.test is not None
    assert (scores.baseline.test.hard, scores.best.test.hard, scores.best.test.n) == (0.0, 1.0, 10)
    assert result.summary.status == "finished"
    assert [step.action for step in result.steps] == ["accept_new_best"]
    assert result.folder is None


def test_async_functions_inside_a_running_loop_give_the_same() -> None:
    async def inside() -> Optimized:
        return await aoptimize(skill=SEED, tasks=sums(), attempt=Counted(), optimizer=ask, settings=EVEN)

    ours, theirs = asyncio.run(inside()), optimized()
    assert ours.skill == theirs.skill
    assert ours.summary.scores == theirs.summary.scores


def test_the_plain_face_inside_a_running_loop_says_what_to_use() -> None:
    async def inside() -> None:
        evaluate(skill=SEED, tasks=sums(), attempt=attempt)

    with pytest.raises(UsageError, match=r"Use: await skillopt.aevaluate\(…\)"):
        asyncio.run(inside())


@pytest.mark.parametrize(("plain", "waiting"), [(optimize, aoptimize), (evaluate, aevaluate)])
def test_both_faces_take_the_same(plain: object, waiting: object) -> None:
    assert callable(plain)
    assert callable(waiting)
    assert inspect.signature(plain) == inspect.signature(waiting)
    assert not inspect.iscoroutinefunction(plain)
    assert inspect.iscoroutinefunction(waiting)


def test_two_runs_in_one_process_do_not_meet() -> None:
    def stubborn(messages: list[dict[str, str]]) -> str:
        return ask(messages).replace("Add", "Multiply")

    async def both() -> list[Optimized]:
        return list(await asyncio.gather(*(aoptimize(**given(optimizer=each)) for each in (ask, stubborn))))

    taught, untaught = asyncio.run(both())
    assert taught.skill == optimized().skill
    assert untaught.skill.text == SEED


def test_a_workspace_keeps_answers_for_the_same_version(tmp_path: Path) -> None:
    agent = Counted()
    kept: dict[str, Any] = {"attempt": agent, "workspace": tmp_path, "version": "1"}
    first = optimized(**kept)
    asked = agent.calls
    again = optimized(**kept)
    assert agent.calls == asked > 0
    assert first.folder is not None
    assert (first.folder / "best_skill.md").read_text(encoding="utf-8") == again.skill.text == first.skill.text
    optimized(**{**kept, "version": "2"})
    assert agent.calls == 2 * asked


def test_a_failure_of_a_function_is_never_a_score() -> None:
    def moody(skill: str, task: Task) -> str:
        if task.id.endswith("3"):
            raise LookupError("no such sum")
        return attempt(skill, task)

    result = evaluate(skill=f"{SEED}{LESSON}", tasks=sums(), attempt=moody)
    assert (result.score.hard, result.score.n, result.failed) == (1.0, 27, 3)
    assert {row.cause for row in result.tasks if row.hard is None} == {"ProviderError"}


def test_a_failure_of_grading_is_never_a_score() -> None:
    def grade(task: Task, answer: str) -> bool:
        if task.id.endswith("3"):
            raise LookupError("no such sum")
        return answer == task.reference

    result = evaluate(skill=f"{SEED}{LESSON}", tasks=sums(), attempt=attempt, grade=grade)
    assert (result.score.hard, result.score.n, result.failed) == (1.0, 27, 3)


class Marker:
    """Grades as somebody who has to be asked; finds no words for some tasks."""

    def __init__(self, speechless: str = "none") -> None:
        self.calls = 0
        self._speechless = speechless

    async def __call__(self, task: Task, answer: str) -> object:
        self.calls += 1
        if task.id.endswith(self._speechless):
            raise LookupError("no such sum")
        return "good" if task.id == "sum-4" else answer == task.reference


def test_an_async_grade_is_asked_and_kept_as_a_judge_is(tmp_path: Path) -> None:
    marker = Marker()
    kept: dict[str, Any] = {"grade": marker, "workspace": tmp_path, "version": "1"}
    first = optimized(**kept)
    asked = marker.calls
    usage = first.summary.usage
    assert 0 < usage.judge.calls <= usage.target.calls - 2, "sum-4 has no mark, and equal answers are marked once"
    assert optimized(**kept).skill == first.skill
    assert marker.calls == asked > 0


def test_an_async_grade_that_fails_or_says_nonsense_gives_no_score() -> None:
    broken: Any = Marker("3")
    result = evaluate(skill=f"{SEED}{LESSON}", tasks=sums(), attempt=attempt, grade=broken)
    assert (result.score.hard, result.score.n, result.failed) == (1.0, 26, 4)
    assert {row.cause for row in result.tasks if row.hard is None} == {"grading: ProviderError"}


@pytest.mark.parametrize("call", ["optimize", "evaluate"])
def test_a_function_that_only_breaks_is_an_error_that_says_how(call: str) -> None:
    def broken(_skill: str, _task: Task) -> str:
        raise NameError("name 'openai' is not defined")

    with pytest.raises(UnavailableError) as raised:
        if call == "optimize":
            optimized(attempt=broken)
        else:
            evaluate(skill=SEED, tasks=sums(), attempt=broken)
    assert "NameError: name 'openai' is not defined" in str(raised.value.__cause__)


def test_a_refused_login_ends_the_run() -> None:
    def locked(_skill: str, _task: Task) -> str:
        raise AuthError("no key")

    with pytest.raises(AuthError):
        optimized(attempt=locked)


def test_a_cap_stops_it_with_what_there_is() -> None:
    result = optimized(settings={**EVEN, "limits": {"calls": 15}})
    assert (result.summary.status, result.summary.stop_reason) == ("stopped", "calls")
    assert result.skill.text == SEED


def test_models_and_chats_take_the_place_of_functions() -> None:
    world = rules_world(3, 12, 8, 8)
    tasks = {split: world.rows(split) for split in ("train", "val", "test")}
    result = optimize(
        skill="# House style\n\nAnswer in the answer tag.\n",
        tasks=tasks,
        attempt={"backend": "scripted", "scenario": "rules"},
        optimizer=ScriptedChat("rules", model="opt"),
        settings={"train": {"epochs": 2, "batch_size": 6}, "gate": {"rule": "force"}},
    )
    assert result.summary.accepts > 0


def test_observers_are_shown_the_events() -> None:
    class Watcher:
        def __init__(self) -> None:
            self.facts: list[Event | Signal] = []

        def see(self, fact: Event | Signal) -> None:
            self.facts.append(fact)

    watcher = Watcher()
    optimized(observers=(watcher,))
    assert isinstance(watcher.facts[-1], RunEnded)


def wrong() -> Iterator[tuple[dict[str, object], str]]:
    yield {"settings": {"trian": {}}}, "did you mean"
    yield {"settings": {"skill": "SKILL.md"}}, "Give it as the argument skill"
    yield {"settings": {"limits": {"usd": 3.0}}}, "limits.usd is set, but nobody knows"
    yield {"settings": {"limits": {"tokens": 3}}}, "limits.tokens is set, but nobody knows"
    yield {"skill": "SKILL.md"}, "For a file give Path('SKILL.md')"
    yield {"tasks": {"tset": sums()}}, "Did you mean 'test'?"
    yield {"tasks": {"train": sums()}}, "The val split is empty"
    yield {"tasks": [{"id": "x"}]}, "Task 1 cannot be used"
    yield {"attempt": 3}, "The target is a int"
    yield {"attempt": {"backend": "opneai"}}, "Did you mean 'openai'"
    yield {"attempt": {"backend": "function", "name": "x", "version": "1"}}, "which a config file cannot give"
    yield {"workspace": ".skillopt"}, "Add version='1'"


@pytest.mark.parametrize(("changed", "said"), list(wrong()))
def test_what_cannot_be_used_is_said_before_anything_is_asked(
    changed: dict[str, object], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SkilloptError) as raised:
        optimized(**changed)
    assert said.lower() in str(raised.value).lower()
    assert not isinstance(raised.value, ProviderError)
    assert list(tmp_path.iterdir()) == []
