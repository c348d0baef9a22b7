"""Whole runs whose answers a judge marks, by the invariants of every run. Each is checked over many seeds:

1   A crash after any record, and the same command again: the same events and bytes, marks included.
2   The same bytes at any number of workers, with and without faults of the judge that pass.
3   A judge who fails on a task for good leaves it without a score: never a 0, never shown to the optimizer.
4   Caps count the judge's calls too, and are never overshot.
5   What a judge says is paid for under its role, and equal answers are marked once.
6   A comparison side by side stops what a judge does not prefer, and never lets in more.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from skillopt.domain.errors import BudgetReachedError, StoreError
from skillopt.domain.seeds import dice
from skillopt.kernel.events import AnswersJudged, BatchGraded, GateDecided, Measured, PairsCompared, TaskScore
from skillopt.kernel.memory import MemoryShelf
from skillopt.phases.judging.settings import JudgeSettings
from skillopt.testing.brains import BRAINS
from skillopt.testing.conversation import Brain, BrainReply, Conversation
from skillopt.testing.faults import FaultKind, FaultPlan
from tests.simulation.house import Lived, appends, live
from tests.simulation.judged import judged_house


def is_judging(conversation: Conversation) -> bool:
    return conversation.system.startswith(("Task: judge", "Task: compare"))


def with_judge(judge: Brain) -> Brain:
    """Return a brain that judges in this way and does everything else as usual."""

    def brain(conversation: Conversation) -> BrainReply:
        return judge(conversation) if is_judging(conversation) else BRAINS["rules"](conversation)

    return brain


def wavering(conversation: Conversation) -> BrainReply:
    """Mark by the confession, but the other way round for one reading in five."""
    score = json.loads(BRAINS["rules"](conversation).text)["score"]
    wrong = dice("waver", conversation.digest).random() < 0.2
    return BrainReply(text=json.dumps({"score": 1.0 - score if wrong else score, "reason": "So it seems."}))


def rows_of(lived: Lived) -> Iterator[TaskScore]:
    """Yield every graded rollout of a run."""
    for event in lived.events:
        if isinstance(event, Measured | BatchGraded):
            yield from event.rows


@pytest.mark.parametrize("seed", range(1, 9))
def test_a_judged_run_learns_and_its_ledger_is_what_the_models_counted(seed: int) -> None:
    lived = live(judged_house(seed))
    usage = lived.summary.usage
    assert lived.error is None, f"seed {seed}"
    assert usage.judge.calls > 0, f"seed {seed}"
    assert usage.optimizer.calls + usage.judge.calls == lived.optimizer.served, f"seed {seed}"
    assert usage.total.calls == lived.served == lived.calls, f"seed {seed}"
    assert lived.records[-1].best_score is not None, f"seed {seed}"
    assert lived.summary.accepts > 0, f"seed {seed}"


@pytest.mark.parametrize(("seed", "repeats", "rate"), [(1, 1, 0.0), (2, 2, 0.3)])
def test_a_crash_after_every_record_changes_no_mark(seed: int, repeats: int, rate: float) -> None:
    home = judged_house(seed, repeats=repeats, small=True).faulty(FaultPlan.random(seed, rate))
    whole = live(home)
    assert whole.error is None
    for kill in range(1, appends(home) + 1):
        shelf = MemoryShelf()
        killed, resumed = live(home, shelf, kill_at=kill), live(home, shelf)
        where = f"seed {seed}, killed after record {kill}"
        assert isinstance(killed.error, StoreError), where
        assert resumed.events == whole.events, where
        assert resumed.lasting == whole.lasting, where
        assert killed.served + resumed.served <= whole.served + killed.in_flight_at_kill, where


@pytest.mark.parametrize("seed", range(1, 21))
def test_faults_that_pass_and_the_number_of_workers_change_no_mark(seed: int) -> None:
    home = judged_house(seed, repeats=1 + seed % 3).but(optimizer_brain=with_judge(wavering))
    whole = live(home)
    assert whole.error is None, f"seed {seed}"
    for width in (1, 7, 64):
        again = live(home.but(optimizer_faults=FaultPlan.random(seed, 0.3)).at_once(width))
        assert again.faults, f"seed {seed}"
        assert again.events == whole.events, f"seed {seed}, {width} workers"
        assert again.lasting == whole.lasting, f"seed {seed}, {width} workers"


@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("seed", range(1, 13))
def test_a_judge_who_fails_for_good_gives_no_zero_and_nothing_to_reflect_on(seed: int, repeats: int) -> None:
    home = judged_house(seed, repeats=repeats)
    broken = [task for task in (*home.plan.tasks.train, *home.plan.tasks.test) if task.rubric][:: 2 + seed % 3]
    shown: list[str] = []

    def failing(conversation: Conversation) -> BrainReply:
        about = next((task for task in broken if str(task.input) in conversation.everything), None)
        if about is None:
            return BRAINS["rules"](conversation)
        if len(about.id) % 2 or seed % 2:
            return BrainReply(fault=FaultKind.CONTEXT)
        return BrainReply(text="It is not for me to say.")

    def optimizer(conversation: Conversation) -> BrainReply:
        if not is_judging(conversation):
            shown.append(conversation.asked)
        return with_judge(failing)(conversation)

    lived = live(home.but(optimizer_brain=optimizer))
    assert lived.error is None, f"seed {seed}"
    names = {task.id for task in broken}
    for row in rows_of(lived):
        assert (row.hard is None) == (row.task_id in names), f"seed {seed}, {row}"
        assert bool(row.cause) == (row.task_id in names), f"seed {seed}, {row}"
    assert shown, f"seed {seed}"
    assert not [task for task in broken if any(str(task.input) in text for text in shown)], f"seed {seed}"


@pytest.mark.parametrize("seed", [3, 9])
def test_every_cap_on_calls_holds_with_a_judge(seed: int) -> None:
    home = judged_house(seed, small=True).faulty(FaultPlan.random(seed, 0.3)).at_once(64)
    whole = live(home)
    for cap in range(whole.calls + 1):
        shelf = MemoryShelf()
        capped = home.at_once(64, calls=cap)
        kill = dice("kill", seed, cap).randrange(1, 60)
        sessions = [live(capped, shelf, kill_at=kill), live(capped, shelf)]
        where = f"seed {seed}, cap of {cap} calls, killed after record {kill}"
        assert sum(each.calls for each in sessions) <= cap, where
        assert sessions[-1].error is None or isinstance(sessions[-1].error, BudgetReachedError), where
        assert live(home, shelf).lasting == whole.lasting, where


@pytest.mark.parametrize("seed", range(1, 9))
def test_a_judge_who_wavers_is_found_out_by_repeats_and_outvoted_by_them(seed: int) -> None:
    once, often = (
        live(judged_house(seed, repeats=repeats).but(optimizer_brain=with_judge(wavering))) for repeats in (1, 5)
    )
    assert once.view.judged is not None and often.view.judged is not None
    assert once.view.judged.flip_rate is None, f"seed {seed}"
    flips = often.view.judged.flip_rate
    assert flips is not None, f"seed {seed}"
    assert 0.15 < flips < 0.5, f"seed {seed}: two readings with one error in five differ in 32 % of cases, told {flips}"
    steady = live(judged_house(seed, repeats=5))
    assert steady.view.judged is not None
    assert steady.view.judged.flip_rate == 0.0, f"seed {seed}"


def test_equal_answers_are_marked_once() -> None:
    lived = live(judged_house(1))
    asked = sum(event.agreement.answers for event in lived.events_of(AnswersJudged))
    assert lived.summary.usage.judge.calls < asked


def contrary(conversation: Conversation) -> BrainReply:
    """Mark as usual, but side by side prefer the answer that confesses a flaw."""
    said = json.loads(BRAINS["rules"](conversation).text)
    turned = {"first": "second", "second": "first"}
    return BrainReply(text=json.dumps(said | {"better": turned.get(said.get("better"), "neither")}))


@pytest.mark.parametrize("seed", range(1, 13))
def test_side_by_side_a_change_is_stopped_that_the_judge_does_not_prefer(seed: int) -> None:
    alone = judged_house(seed)
    pairwise = alone.but(judge=JudgeSettings(mode="pairwise"))
    plain, agreed = live(alone), live(pairwise)
    verdicts = [[gate.verdict for gate in lived.events_of(GateDecided)] for lived in (plain, agreed)]
    assert verdicts[0] == verdicts[1], f"seed {seed}: a judge of one mind lets the same changes in"
    compared = agreed.events_of(PairsCompared)
    assert [each.origin for each in compared] == [
        gate.origin for gate in agreed.events_of(GateDecided) if gate.verdict == "accept"
    ], f"seed {seed}"
    assert agreed.summary.usage.target.calls == plain.summary.usage.target.calls, (
        f"seed {seed}: no answer is asked anew"
    )
    stopped = live(pairwise.but(optimizer_brain=with_judge(contrary)))
    for each, gate in zip(
        stopped.events_of(PairsCompared),
        [gate for gate in stopped.events_of(GateDecided) if "side by side" in gate.reason],
        strict=True,
    ):
        assert gate.verdict == ("reject" if each.old >= each.new and each.old else "accept"), f"seed {seed}"
    if compared:
        first = stopped.events_of(PairsCompared)[0]
        assert (first.old, first.new) == (compared[0].new, compared[0].old), f"seed {seed}"
