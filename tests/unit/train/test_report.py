from __future__ import annotations

import json

import msgspec
import pytest

from skillopt.domain.usage import Usage
from skillopt.kernel.journal import Spent
from skillopt.kernel.view import RunView
from skillopt.train.report import Ending, summarize
from tests.simulation.house import Lived, house, live

ENDING = Ending(
    run="r", run_dir=".skillopt/runs/r", status="stopped", stop_reason="calls", spent=Spent(), wall_seconds=1.0
)


@pytest.fixture(scope="module")
def lived() -> Lived:
    return live(house(14))


def test_steps_add_up(lived: Lived) -> None:
    summary = lived.summary
    assert summary.steps == len(lived.records) == 4
    assert summary.accepts + summary.rejects + summary.inconclusive + summary.skips == summary.steps
    assert [row.epoch for row in summary.epochs] == [1, 2]
    assert sum(row.accepts for row in summary.epochs) == summary.accepts > 0
    assert sum(row.steps for row in summary.epochs) == summary.steps


def test_scores_are_those_that_were_measured(lived: Lived) -> None:
    scores = lived.summary.scores
    for name, row in (("baseline", scores.baseline), ("best", scores.best), ("last", scores.last)):
        measured = lived.view.score(name, "test")
        assert measured is not None
        assert row.test is not None
        assert row.test.hard == measured.mean.hard
    best = lived.view.score(lived.summary.best_origin, "val")
    assert best is not None
    assert scores.best.val is not None
    assert scores.best.val.hard == best.mean.hard == lived.records[-1].best_score
    assert lived.summary.best_step == lived.records[-1].best_step > 0


def test_usage_is_split_by_role_and_adds_up(lived: Lived) -> None:
    usage = lived.summary.usage
    assert usage.total.calls == usage.target.calls + usage.optimizer.calls + usage.judge.calls
    assert usage.target.calls == lived.target.served
    assert usage.judge.calls == 0


def test_the_tokens_of_a_step_are_those_of_its_stages(lived: Lived) -> None:
    for record in lived.records:
        assert {"rollout", "reflect"} <= set(record.tokens) <= {"rollout", "reflect", "rank", "merge"}
        assert record.rollout_n == record.accumulation_batches[0].n_envs == 6


def test_a_run_that_measured_nothing_says_null_and_never_zero() -> None:
    summary = summarize(RunView(), ENDING)
    assert (summary.scores.baseline.val, summary.scores.best.val, summary.scores.last.test) == (None, None, None)
    assert summary.claimed_val is None
    assert (summary.best_step, summary.best_origin) == (0, "initial_skill")
    assert summary.by_type == {}


def test_overhead_is_what_was_sent_beyond_what_was_used() -> None:
    spent = Spent(
        attempts=10,
        answered=6,
        failed=3,
        lost=1,
        failed_usage=Usage(calls=3, input_tokens=5, output_tokens=2, nano_usd=1_000_000_000),
        lost_usage=Usage(calls=1, output_tokens=4, nano_usd=500_000_000),
        unused=2,
        unused_usage=Usage(calls=2, output_tokens=9, nano_usd=250_000_000),
        seconds=12.5,
    )
    view = RunView(usage={"target": Usage(calls=7), "optimizer": Usage(calls=2)})
    overhead = summarize(view, msgspec.structs.replace(ENDING, spent=spent)).usage.overhead
    assert (overhead.attempts, overhead.failed, overhead.lost, overhead.speculative) == (10, 3, 1, 2)
    assert (overhead.failed_tokens, overhead.lost_tokens, overhead.speculative_tokens) == (7, 4, 9)
    assert overhead.replayed == 5, "9 answers were used, 4 of them paid for here"
    assert overhead.usd == 1.75


def test_the_fields_other_tools_rely_on_are_there(lived: Lived) -> None:
    summary = json.loads(msgspec.json.encode(lived.summary))
    assert set(summary) == {
        *("run", "run_dir", "status", "stop_reason", "steps", "accepts", "rejects", "inconclusive", "skips"),
        *("best_step", "best_skill", "scores", "by_type", "epochs", "current_origin", "best_origin", "claimed_val"),
        *("usage", "wall_seconds", "config_digest", "version"),
    }
    assert set(summary["scores"]) == {"baseline", "best", "last"}
    assert set(summary["scores"]["best"]["val"]) == {"hard", "soft", "n", "low", "high"}
    assert set(summary["usage"]) == {"target", "optimizer", "judge", "total", "overhead"}
    assert set(summary["usage"]["total"]) == {"calls", "input_tokens", "cached_tokens", "output_tokens", "usd"}
    assert {"attempts", "failed", "replayed", "lost", "speculative", "usd", "seconds"} <= set(
        summary["usage"]["overhead"]
    )
