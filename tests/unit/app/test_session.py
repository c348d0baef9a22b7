"""One session of a run: what stops it, what is left, and what the same command does then."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from skillopt.app.project.prepare import Prepared, prepare
from skillopt.app.session import Ended, Exam, Examined, Interrupt, eval_session, train_session
from skillopt.app.workspace import opened_journal
from skillopt.domain.errors import (
    BudgetReachedError,
    InterruptedRunError,
    OptimizerError,
    QuotaExhaustedError,
    SkilloptError,
    UnavailableError,
    UsageError,
)
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import SplitName
from skillopt.kernel.clock import SystemClock
from skillopt.kernel.events import Event, RunEnded, Signal, StepEnded
from tests.unit.app.projects import lasting_bytes, settings, write_project

RETRY = {"attempts": 2, "first_wait": 0.0}


def never(_interrupt: Interrupt) -> None:
    """Let the run go on to its end."""


class Listener:
    """Keeps what it is shown, and does something at an event of a kind."""

    def __init__(self, kind: type = RunEnded, act: Callable[[], object] = tuple) -> None:
        self.heard: list[Event | Signal] = []
        self._kind = kind
        self._act = act

    def see(self, fact: Event | Signal) -> None:
        self.heard.append(fact)
        if isinstance(fact, self._kind):
            self._act()


def ready(folder: Path, sets: Sequence[str] = (), **sections: object) -> Prepared:
    return prepare(write_project(folder, settings(retry=RETRY, **sections)), sets=sets, environ={})


def trained(prepared: Prepared, name: str = "run", listener: Listener | None = None) -> Ended:
    async def session() -> Ended:
        clock = SystemClock()
        async with opened_journal(prepared.workspace, clock) as journal:
            watching = () if listener is None else (listener,)
            return await train_session(prepared, journal, clock, name=name, observers=watching, started=never)

    return asyncio.run(session())


def models(target: str = "rules", optimizer: str = "rules") -> dict[str, object]:
    return {
        "target": {"backend": "scripted", "scenario": target},
        "optimizer": {"backend": "scripted", "scenario": optimizer},
    }


def run_folder(prepared: Prepared, name: str = "run") -> Path:
    return prepared.workspace / "runs" / name


def test_a_finished_run_says_so_everywhere(tmp_path: Path) -> None:
    prepared, listener = ready(tmp_path), Listener()
    ended = trained(prepared, listener=listener)
    assert ended.error is None
    assert (ended.summary.status, ended.summary.run_dir) == ("finished", ".skillopt/runs/run")
    assert ended.summary.best_skill == ".skillopt/runs/run/best_skill.md"
    told = json.loads((run_folder(prepared) / "summary.json").read_bytes())
    assert told["config_digest"] == prepared.digest[:16]
    assert any(isinstance(fact, StepEnded) for fact in listener.heard)


def test_losing_the_folder_loses_nothing_and_costs_no_call(tmp_path: Path) -> None:
    prepared = ready(tmp_path)
    first = trained(prepared)
    before = lasting_bytes(run_folder(prepared))
    shutil.rmtree(prepared.workspace / "runs")
    again = trained(prepared)
    assert lasting_bytes(run_folder(prepared)) == before
    assert again.summary.usage.overhead.attempts == first.summary.usage.overhead.attempts > 0


def test_a_cap_stops_and_a_raised_cap_goes_on_to_the_same_end(tmp_path: Path) -> None:
    whole = trained(ready(tmp_path / "whole"))
    calls = whole.summary.usage.total.calls
    for cap in (1, calls // 2, calls - 1):
        folder = tmp_path / str(cap)
        capped = trained(ready(folder, [f"limits.calls={cap}"]))
        assert isinstance(capped.error, BudgetReachedError)
        assert (capped.summary.status, capped.summary.stop_reason) == ("stopped", "calls")
        assert capped.summary.usage.overhead.attempts <= cap
        assert (folder / ".skillopt" / "runs" / "run" / "best_skill.md").is_file()
        raised = trained(ready(folder, [f"limits.calls={calls}"]))
        assert raised.error is None
        assert lasting_bytes(folder / ".skillopt/runs/run") == lasting_bytes(tmp_path / "whole/.skillopt/runs/run")


def test_another_plan_under_the_same_name_is_refused_with_what_differs(tmp_path: Path) -> None:
    trained(ready(tmp_path))
    with pytest.raises(UsageError) as refused:
        trained(ready(tmp_path, ["train.seed=3", "gate.rule=force", "limits.concurrency=1"]))
    assert "gate.rule, train.seed changed" in refused.value.message


@pytest.mark.parametrize(
    ("who", "error", "status"),
    [
        (models(optimizer="stubborn"), OptimizerError, "failed"),
        (models(target="always-fails"), UnavailableError, "failed"),
        (models(target="rules,at=9:quota"), QuotaExhaustedError, "stopped"),
        (models(target="rules,kinds=context"), UnavailableError, "failed"),
    ],
)
def test_what_stops_a_run_is_told_and_its_folder_is_whole(
    tmp_path: Path, who: dict[str, object], error: type[SkilloptError], status: str
) -> None:
    prepared = ready(tmp_path, models=who)
    ended = trained(prepared)
    assert isinstance(ended.error, error)
    assert (ended.summary.status, ended.summary.stop_reason) == (status, error.__name__)
    assert (run_folder(prepared) / "best_skill.md").read_text() == prepared.plan.seed_skill.text
    baseline = ended.summary.scores.baseline.val
    assert baseline is None or baseline.hard != 0.0


def test_an_interrupt_finishes_what_is_under_way_and_the_next_session_goes_on(tmp_path: Path) -> None:
    whole = trained(ready(tmp_path / "whole", ["train.epochs=2"]))
    prepared = ready(tmp_path / "cut", ["train.epochs=2"])

    async def session() -> Ended:
        clock = SystemClock()
        interrupts: list[Interrupt] = []
        listener = Listener(StepEnded, lambda: [interrupt() for interrupt in interrupts])
        async with opened_journal(prepared.workspace, clock) as journal:
            return await train_session(
                prepared, journal, clock, name="run", observers=(listener,), started=interrupts.append
            )

    cut = asyncio.run(session())
    assert isinstance(cut.error, InterruptedRunError)
    assert (cut.summary.status, cut.summary.steps) == ("stopped", 1)
    assert cut.summary.usage.overhead.lost == 0
    finished = trained(prepared)
    assert finished.error is None
    assert finished.summary.usage.total == whole.summary.usage.total
    assert lasting_bytes(run_folder(prepared)) == lasting_bytes(tmp_path / "whole/.skillopt/runs/run")


def test_a_second_interrupt_does_not_wait(tmp_path: Path) -> None:
    prepared = ready(tmp_path, models=models(target="rules,latency=3600"))

    def twice(interrupt: Interrupt) -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(0.05, interrupt)
        loop.call_later(0.1, interrupt)

    async def session() -> Ended:
        clock = SystemClock()
        async with opened_journal(prepared.workspace, clock) as journal:
            return await train_session(prepared, journal, clock, name="run", observers=(), started=twice)

    ended = asyncio.run(asyncio.wait_for(session(), 20))
    assert isinstance(ended.error, InterruptedRunError)
    assert ended.summary.usage.overhead.attempts == ended.summary.usage.overhead.lost == 4
    assert ended.summary.scores.baseline.val is None


def examined(prepared: Prepared, exam: Exam) -> Examined:
    async def session() -> Examined:
        clock = SystemClock()
        async with opened_journal(prepared.workspace, clock) as journal:
            return await eval_session(prepared, journal, clock, exam, started=never)

    return asyncio.run(session())


def test_an_exam_measures_one_split_and_pays_once(tmp_path: Path) -> None:
    prepared = ready(tmp_path)
    seed = prepared.plan.seed_skill
    ended = trained(prepared)
    (val,) = examined(prepared, Exam(skill=seed, split=SplitName.VAL)).trials
    assert ended.summary.scores.baseline.val is not None
    assert val.mean.hard == ended.summary.scores.baseline.val.hard
    (train,) = examined(prepared, Exam(skill=seed, split=SplitName.TRAIN)).trials
    assert (train.split, train.mean.n) == ("train", 12)


def test_trials_are_asked_once_each(tmp_path: Path) -> None:
    prepared = ready(tmp_path)
    exam = Exam(skill=Skill.from_text("Another.\n"), split=SplitName.TEST, trials=3)
    three = examined(prepared, exam).trials
    assert [each.label for each in three] == ["trial_0", "trial_1", "trial_2"]
    assert {row.trial for row in three[2].rows} == {2}
    assert examined(prepared, Exam(skill=exam.skill, split=SplitName.TEST)).trials == three[:1]
    assert examined(prepared, exam).trials == three


def test_an_exam_without_tasks_or_answers_is_an_error(tmp_path: Path) -> None:
    prepared = ready(tmp_path / "a", models=models(target="always-fails"))
    outage = examined(prepared, Exam(skill=prepared.plan.seed_skill, split=SplitName.VAL))
    assert isinstance(outage.error, UnavailableError)
    assert outage.trials == ()
    empty = tmp_path / "b"
    write_project(empty)
    (empty / "tasks" / "test.jsonl").unlink()
    with pytest.raises(UsageError, match="The test split is empty"):
        examined(prepare(empty / "skillopt.yaml", environ={}), Exam(skill=Skill.blank(), split=SplitName.TEST))
