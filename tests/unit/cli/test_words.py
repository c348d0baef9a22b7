from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from skillopt.cli.words import score_words, summary_lines
from skillopt.train.summary import ScoreRow, SplitScores, Summary
from tests.simulation.house import house, live


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (None, "not measured"),
        (ScoreRow(hard=None, soft=None, n=0, low=None, high=None), "not measured"),
        (ScoreRow(hard=0.0, soft=0.0, n=8, low=0.0, high=0.32), "0.000 [0.00, 0.32] n=8"),
        (ScoreRow(hard=0.85, soft=0.9, n=40, low=0.709, high=0.929), "0.850 [0.71, 0.93] n=40"),
        (ScoreRow(hard=1.0, soft=1.0, n=1, low=None, high=None), "1.000 n=1"),
    ],
)
def test_a_score_is_told_with_its_interval_and_n(row: ScoreRow | None, words: str) -> None:
    assert score_words(row) == words


@pytest.fixture(scope="module")
def summary() -> Summary:
    return live(house(14)).summary


def test_a_summary_tells_what_decided_apart_from_what_did_not(summary: Summary) -> None:
    text = "\n".join(summary_lines(summary))
    assert text.startswith("run run: finished (all steps done)\n")
    assert f"steps {summary.steps}: {summary.accepts} accepted, {summary.rejects} rejected" in text
    assert "test, which decided nothing: seed " in text
    assert "val, which chose the winner:  seed " in text
    assert f"(step {summary.best_step})" in text
    assert f"cost: {summary.usage.total.calls} calls" in text
    assert f"report: {summary.run_dir}/report.html" in text


def test_what_was_not_measured_is_not_told_as_a_number(summary: Summary) -> None:
    nothing = SplitScores(val=None, test=None)
    scores = msgspec.structs.replace(summary.scores, baseline=nothing, best=nothing, last=nothing)
    text = "\n".join(summary_lines(msgspec.structs.replace(summary, scores=scores, status="failed", stop_reason="")))
    assert text.startswith("run run: failed\n")
    assert "test," not in text
    assert text.count("not measured") == 2
    assert Path(summary.best_skill).name == "best_skill.md"


def test_a_claimed_val_score_is_not_said_to_have_chosen_the_winner(summary: Summary) -> None:
    claimed = "\n".join(summary_lines(msgspec.structs.replace(summary, claimed_val=0.5)))
    assert "val, in trials of its own:    seed " in claimed
    assert "chose the winner" not in claimed
