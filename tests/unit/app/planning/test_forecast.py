from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from skillopt.app.planning.forecast import Forecast, forecast
from skillopt.app.project.prepare import Prepared, prepare
from skillopt.app.session import train_session
from skillopt.app.workspace import opened_journal
from skillopt.domain.errors import UsageError
from skillopt.kernel.clock import SystemClock
from skillopt.train.summary import Summary
from tests.unit.app.projects import settings, write_project


def ready(folder: Path, *sets: str, **sections: object) -> Prepared:
    return prepare(write_project(folder, settings(**sections)), sets=sets, environ={})


def trained(prepared: Prepared, name: str = "run") -> Summary:
    async def session() -> Summary:
        clock = SystemClock()
        async with opened_journal(prepared.workspace, clock) as journal:
            ended = await train_session(
                prepared, journal, clock, name=name, observers=(), started=lambda _interrupt: None
            )
            return ended.summary

    return asyncio.run(session())


def planned(prepared: Prepared, name: str = "run") -> Forecast:
    return asyncio.run(forecast(prepared, name))


def test_an_unknown_run_is_guessed_and_leaves_nothing_behind(tmp_path: Path) -> None:
    prepared = ready(tmp_path)
    plan = planned(prepared)
    assert not plan.known
    assert (plan.steps, plan.steps_done) == (2, 0)
    assert plan.estimate.total.calls.low > 0
    assert not prepared.workspace.exists()


def test_a_finished_run_costs_nothing_under_any_name(tmp_path: Path) -> None:
    prepared = ready(tmp_path)
    trained(prepared)
    files = {path: path.stat().st_mtime_ns for path in prepared.workspace.rglob("*") if path.suffix == ".md"}
    for name in ("run", "another"):
        plan = planned(prepared, name)
        assert plan.estimate.total.calls.high == 0
        assert plan.known
    assert files == {path: path.stat().st_mtime_ns for path in prepared.workspace.rglob("*") if path.suffix == ".md"}
    assert not (prepared.workspace / "runs" / "another").exists()


@pytest.mark.parametrize("cap", [1, 7, 20, 30, 37, 44, 50])
def test_a_stopped_run_costs_the_rest_wherever_it_stopped(tmp_path: Path, cap: int) -> None:
    whole = trained(ready(tmp_path / "whole")).usage.total.calls
    prepared = ready(tmp_path / "part")
    done = trained(ready(tmp_path / "part", f"limits.calls={cap}"))
    rest = whole - done.usage.overhead.attempts
    calls = planned(prepared).estimate.total.calls
    assert calls.low <= rest <= calls.high, f"cap {cap}: {calls}, and {rest} were left"


def test_a_cap_counts_what_was_spent_before(tmp_path: Path) -> None:
    trained(ready(tmp_path, "limits.calls=10"))
    plan = planned(ready(tmp_path, "limits.calls=15"))
    assert plan.estimate.total.calls.high == 5
    assert plan.estimate.cap == "calls"


def test_an_earlier_run_tells_how_long_replies_are(tmp_path: Path) -> None:
    prepared = ready(tmp_path)
    summary = trained(prepared)
    plan = planned(ready(tmp_path, "train.seed=7"), "other")
    assert plan.known
    target = plan.estimate.roles["target"]
    seen = summary.usage.target
    assert target.output_tokens.likely / target.calls.likely == pytest.approx(seen.output_tokens / seen.calls, rel=0.05)


def test_any_other_run_tells_how_long_answers_take_and_how_long_they_are(tmp_path: Path) -> None:
    trained(ready(tmp_path, "limits.calls=30"), "stopped")
    plan = planned(ready(tmp_path, "train.seed=7"), "other")
    assert plan.known
    assert plan.estimate.seconds is not None
    assert 0 < plan.estimate.seconds.low < plan.estimate.seconds.likely < plan.estimate.seconds.high
    capped = planned(ready(tmp_path, "train.seed=7", "limits.seconds=0.000001"), "other")
    assert capped.estimate.cap == "seconds"


def test_before_the_first_run_nobody_knows_how_long_an_answer_takes(tmp_path: Path) -> None:
    assert planned(ready(tmp_path)).estimate.seconds is None


def test_another_plan_under_the_same_name_is_refused(tmp_path: Path) -> None:
    trained(ready(tmp_path))
    with pytest.raises(UsageError, match=r"train\.seed changed"):
        planned(ready(tmp_path, "train.seed=7"))


def test_a_stage_of_its_own_has_its_own_longest_reply(tmp_path: Path) -> None:
    usual, short = (
        planned(ready(tmp_path / name, *sets)).estimate
        for name, sets in (("usual", ()), ("short", ("models.optimizer.stages={reflect: {max_tokens: 7}}",)))
    )
    assert short.verbs == usual.verbs
    calls = usual.verbs["reflect"].high
    saved = usual.roles["optimizer"].output_tokens.high - short.roles["optimizer"].output_tokens.high
    assert saved == calls * (4096 - 7)
