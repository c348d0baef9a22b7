from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec
import pytest

from skillopt.domain.evidence.terms import Terms
from skillopt.domain.progress.standing import Standing
from skillopt.domain.progress.state import Gated
from skillopt.domain.scores import Metric, Score, Scoreboard, Scored
from skillopt.domain.skill import Edit, EditOp, Skill, apply
from skillopt.domain.verdicts import Accept, Inconclusive, Reject
from skillopt.phases.gate import Compared, GateSettings, gate

SKILL = Skill.from_text("# Rules\n")
CHANGED = apply(SKILL, [Edit(op=EditOp.APPEND, content="Be brief.")])
SIZE = 40
Right = Callable[[int], float | None]


def scored(place: int, trial: int, mark: float | None) -> Scored:
    if mark is None:
        return Scored(task_id=f"t{place}", trial=trial, cause="UnavailableError")
    return Scored(task_id=f"t{place}", trial=trial, score=Score(hard=float(mark >= 1.0), soft=mark))


class Val:
    """Val, answered by one function for each skill; writes down what is asked."""

    task_ids = tuple(f"t{place}" for place in range(SIZE))

    def __init__(self, before: Right, after: Right, trials: int) -> None:
        self._marks = {SKILL.digest: before, CHANGED.skill.digest: after}
        self._trials = trials
        self.asked: list[str] = []

    async def whole(self, skill: Skill) -> Scoreboard:
        """Measure a bar."""
        self.asked.append("bar")
        return self.bar(skill)

    def bar(self, skill: Skill) -> Scoreboard:
        """Return the trials of a bar."""
        mark = self._marks[skill.digest]
        return Scoreboard(
            tuple(scored(place, trial, mark(place)) for trial in range(self._trials) for place in range(SIZE))
        )

    def foresee(self, gated: Gated) -> None:
        """Write down that an accept is foreseen."""
        assert isinstance(gated.verdict, Accept)
        assert gated.bar is None
        self.asked.append("foreseen")

    async def some(self, skill: Skill, places: tuple[int, ...], trial: int) -> Scoreboard:
        """Measure a wave."""
        self.asked.append(f"{'candidate' if skill.digest == CHANGED.skill.digest else 'incumbent'} {len(places)}")
        return Scoreboard(tuple(scored(place, trial, self._marks[skill.digest](place)) for place in places))


def decided(before: Right, after: Right, **settings: object) -> tuple[Gated, Val]:
    chosen = msgspec.convert(settings, GateSettings)
    val = Val(before, after, chosen.trials)
    standing = Standing(skill=SKILL, board=val.bar(SKILL), origin="initial_skill")
    compared = Compared(metric=chosen.compared, incumbent=standing, best=standing)
    terms = Terms(order=tuple(range(SIZE)), trials=chosen.trials, block=chosen.guard == "block")
    return asyncio.run(gate(chosen, val, terms, CHANGED, compared)), val


def half(place: int) -> float:
    return float(place % 2)


def always(_place: int) -> float:
    return 1.0


def never(_place: int) -> float:
    return 0.0


def test_an_accepted_skill_is_measured_afresh_and_stands_by_that() -> None:
    gated, val = decided(half, always)
    assert isinstance(gated.verdict, Accept)
    assert gated.verdict.new_best
    assert val.asked == ["candidate 8", "candidate 32", "foreseen", "bar"]
    assert gated.bar is not None
    assert (gated.verdict.incumbent, gated.verdict.candidate, gated.verdict.calls) == (0.5, 1.0, 40)
    standing = gated.standing(CHANGED, "step_0001", 1)
    assert standing is not None
    assert (standing.board, standing.fresh) == (gated.bar, True)


def test_a_rejected_candidate_has_evidence_and_no_score() -> None:
    gated, val = decided(half, never)
    assert isinstance(gated.verdict, Reject)
    assert (gated.verdict.candidate, gated.bar) == (None, None)
    assert gated.verdict.calls == gated.verdict.n == 12
    assert gated.finding is not None
    assert gated.finding.losses == 4
    assert val.asked == ["candidate 8", "candidate 4"]
    assert "worse" in gated.verdict.reason


def test_answers_that_do_not_vary_are_compared_one_by_one() -> None:
    gated, val = decided(half, always, deterministic=True)
    assert isinstance(gated.verdict, Accept)
    assert val.asked == ["incumbent 8", "candidate 8", "incumbent 8", "candidate 8", "foreseen", "bar"]
    one, _ = decided(half, lambda place: 1.0 if place == 38 else half(place), deterministic=True)
    assert isinstance(one.verdict, Accept)
    none, _ = decided(half, half, deterministic=True)
    assert isinstance(none.verdict, Reject)


@pytest.mark.parametrize("metric", ["soft", "mixed"])
def test_part_marks_are_compared_where_they_are_the_metric(metric: str) -> None:
    gated, _ = decided(lambda place: 0.3, lambda place: 0.8, metric=metric)
    assert isinstance(gated.verdict, Accept)
    assert gated.finding is not None
    assert gated.finding.procedure == "values"
    assert isinstance(decided(lambda place: 0.3, lambda place: 0.8)[0].verdict, Reject)


@pytest.mark.parametrize("mark", [1.0, 0.0])
def test_too_many_failures_are_inconclusive_whatever_the_rest_says(mark: float) -> None:
    gated, _ = decided(half, lambda place: None if place % 4 == 0 else mark)
    assert isinstance(gated.verdict, Inconclusive)
    assert "UnavailableError" in gated.verdict.reason
    assert gated.standing(CHANGED, "step_0001", 1) is None


def test_a_task_whose_known_trials_failed_is_not_asked_for() -> None:
    _, val = decided(lambda place: None if place < 20 else half(place), always)
    assert val.asked == ["candidate 8", "candidate 12", "foreseen", "bar"]


def test_where_no_test_can_tell_the_config_says_what_decides() -> None:
    def solved_but_one(place: int) -> float:
        return float(place != 3)

    gated, val = decided(solved_but_one, always)
    assert isinstance(gated.verdict, Inconclusive)
    assert val.asked == []
    assert gated.finding is not None
    assert gated.finding.needed == 80
    strictly, val = decided(solved_but_one, always, small_val="strict")
    assert isinstance(strictly.verdict, Accept)
    assert (val.asked, strictly.finding) == (["bar"], None)
    softly, val = decided(solved_but_one, always, small_val="soft")
    assert isinstance(softly.verdict, Reject)
    assert softly.finding is not None
    assert (softly.finding.procedure, softly.finding.needed) == ("values", None)


@pytest.mark.parametrize("small_val", ["refuse", "soft", "strict"])
def test_what_is_solved_everywhere_needs_no_other_rule(small_val: str) -> None:
    gated, val = decided(always, half, small_val=small_val)
    assert isinstance(gated.verdict, Reject)
    assert val.asked == []


def test_the_guard_may_stop_a_candidate_that_breaks_a_solved_task() -> None:
    def one_broken(place: int) -> float:
        return float(place != 1)

    assert isinstance(decided(half, one_broken)[0].verdict, Accept)
    gated, _ = decided(half, one_broken, guard="block")
    assert isinstance(gated.verdict, Reject)
    assert gated.finding is not None
    assert gated.finding.regressed == (1,)


def test_the_best_changes_hands_if_the_incumbent_was_the_best_or_is_overtaken() -> None:
    val = Val(half, always, 3)
    best_board = Scoreboard(tuple(scored(place, trial, 1.0) for trial in range(3) for place in range(SIZE)))
    incumbent = Standing(skill=SKILL, board=val.bar(SKILL), origin="slow_update_epoch_02")
    best = Standing(skill=Skill.from_text("# Best\n"), board=best_board, origin="step_0001", step=1)
    compared = Compared(metric=Metric(), incumbent=incumbent, best=best)
    gated = asyncio.run(gate(GateSettings(), val, Terms(order=tuple(range(SIZE))), CHANGED, compared))
    assert isinstance(gated.verdict, Accept)
    assert not gated.verdict.new_best
