from __future__ import annotations

import msgspec
import pytest

from skillopt.domain.progress.memory import Pattern, TriedChange
from skillopt.domain.progress.standing import Standing
from skillopt.domain.progress.state import Gated, Step, StepOutcome, TrainState, action_of
from skillopt.domain.scores import Metric, Score, Scoreboard, Scored
from skillopt.domain.skill import Candidate, Edit, EditOp, Skill, apply
from skillopt.domain.verdicts import Accept, Inconclusive, Reject, Verdict

SEED = Skill.from_text("# Rules\n")
BETTER = apply(SEED, [Edit(op=EditOp.APPEND, content="Be brief.")])
UNCHANGED = Candidate.unchanged(SEED)
VAL = Scoreboard((Scored(task_id="v", score=Score(hard=1, soft=1)),))


def train(**marks: float | None) -> Scoreboard:
    return Scoreboard(
        tuple(
            Scored(task_id=name, cause="down")
            if hard is None
            else Scored(task_id=name, score=Score(hard=hard, soft=hard))
            for name, hard in marks.items()
        )
    )


def begun() -> TrainState:
    return TrainState.begin(SEED, Scoreboard((Scored(task_id="v", score=Score(hard=0, soft=0)),)), Metric())


def outcome(
    verdict: Verdict,
    *,
    candidate: Candidate = BETTER,
    board: Scoreboard | None = VAL,
    graded: Scoreboard = train(a=1.0),
    asked: int = 1,
    answered: int = 1,
    number: int = 1,
) -> StepOutcome:
    step = Step(number=number, epoch=1, in_epoch=number, total=9, closes_epoch=False)
    gated = Gated(verdict=verdict, board=board)
    return StepOutcome(step=step, candidate=candidate, gated=gated, train=graded, asked=asked, answered=answered)


BEST, GOOD = Accept(reason="", new_best=True), Accept(reason="")
BAD, UNKNOWN = Reject(reason=""), Inconclusive(reason="")


@pytest.mark.parametrize(
    ("verdict", "skill", "best", "origin"),
    [
        (BEST, BETTER.skill, BETTER.skill, "step_0001"),
        (GOOD, BETTER.skill, SEED, "step_0001"),
        (BAD, SEED, SEED, "initial_skill"),
        (UNKNOWN, SEED, SEED, "initial_skill"),
    ],
)
def test_only_an_accepted_candidate_leaves_a_trace_in_the_skill(
    verdict: Verdict, skill: Skill, best: Skill, origin: str
) -> None:
    after = begun().after(outcome(verdict))
    assert (after.skill, after.best.skill, after.incumbent.origin) == (skill, best, origin)
    assert after.incumbent.board == (VAL if skill == BETTER.skill else begun().incumbent.board)
    assert after.best.step == (1 if best == BETTER.skill else 0)
    assert after.since_accept == (0 if isinstance(verdict, Accept) else 1)


@pytest.mark.parametrize(
    "odd", [{"candidate": UNCHANGED}, {"board": None}], ids=["nothing changed", "nothing measured"]
)
def test_what_was_not_changed_or_not_measured_is_not_accepted(odd: dict[str, object]) -> None:
    after = begun().after(msgspec.structs.replace(outcome(BEST), **_inside(odd)))
    assert after.incumbent == after.best == begun().incumbent
    assert after.since_accept == 1


def _inside(odd: dict[str, object]) -> dict[str, object]:
    return {"gated": Gated(verdict=BEST, board=None)} if "board" in odd else odd


@pytest.mark.parametrize(
    ("steps", "mute"),
    [
        ([(2, 0)], 1),
        ([(2, 0), (1, 0)], 2),
        ([(2, 0), (2, 1)], 0),
        ([(2, 0), (0, 0)], 1),
    ],
)
def test_how_long_the_optimizer_has_been_mute(steps: list[tuple[int, int]], mute: int) -> None:
    state = begun()
    for asked, answered in steps:
        state = state.after(outcome(BAD, asked=asked, answered=answered))
    assert state.mute == mute
    assert state.steps_done == len(steps)


@pytest.mark.parametrize(
    ("batches", "silent"),
    [
        ([train(a=None, b=None)], 1),
        ([train(a=None), train(b=None)], 2),
        ([train(a=None), train(b=0.0)], 0),
        ([train(a=None), train(b=None, c=0.0)], 0),
    ],
)
def test_how_long_the_target_has_been_silent(batches: list[Scoreboard], silent: int) -> None:
    state = begun()
    for graded in batches:
        state = state.after(outcome(BAD, graded=graded))
    assert state.silent == silent


@pytest.mark.parametrize(
    ("batches", "passed"),
    [
        ([train(a=1.0, b=1.0)], "ab"),
        ([train(a=1.0), train(b=1.0)], "ab"),
        ([train(a=1.0), train(b=0.0)], ""),
        ([train(a=0.9)], ""),
        ([train(a=0.0), train(b=1.0)], "b"),
        ([train(a=1.0), train(b=None)], "a"),
        ([train(a=1.0), train(a=1.0)], "a"),
    ],
)
def test_which_train_tasks_passed_since_the_last_failure(batches: list[Scoreboard], passed: str) -> None:
    state = begun()
    for graded in batches:
        state = state.after(outcome(BAD, graded=graded))
    assert state.passed == frozenset(passed)
    assert state.after(outcome(GOOD, graded=train(z=1.0))).passed == frozenset()


def test_later_steps_are_told_what_was_tried() -> None:
    verdict = Reject(reason="", candidate=0.0, incumbent=0.5)
    after = begun().after(outcome(verdict, graded=train(a=0.0, b=1.0, c=None)))
    (tried,) = after.memory.tried
    assert (tried.action, tried.failed_tasks, tried.tasks) == ("reject", 1, 2)
    assert tried.changes == (TriedChange(words="append: Be brief.", fate="rejected"),)
    assert (tried.candidate, tried.incumbent) == (0.0, 0.5)


def test_what_was_not_measured_has_no_numbers_in_the_ledger() -> None:
    verdict = Reject(reason="nothing changed", candidate=0.5, incumbent=0.5)
    (tried,) = begun().after(outcome(verdict, candidate=UNCHANGED, board=None)).memory.tried
    assert (tried.candidate, tried.incumbent) == (None, None)


@pytest.mark.parametrize(("verdict", "fate"), [(BEST, "accepted"), (BAD, "rejected"), (UNKNOWN, "inconclusive")])
def test_the_ledger_keeps_every_proposal_with_its_fate_and_evidence(verdict: Verdict, fate: str) -> None:
    made = Edit(op=EditOp.APPEND, content="Be brief.", support=2, tasks=("a", "b"))
    refused = Edit(op=EditOp.DELETE, target="no such line")
    left = Edit(op=EditOp.APPEND, content="Be kind.")
    pattern = Pattern(words="too long", count=2, tasks=("a", "b"))
    ended = msgspec.structs.replace(
        outcome(verdict, candidate=apply(SEED, [made, refused])), proposed=(made, refused, left), patterns=(pattern,)
    )
    (tried,) = begun().after(ended).memory.tried
    assert [(change.words, change.fate) for change in tried.changes] == [
        ("append: Be brief.", fate),
        ("delete: no such line", "refused"),
        ("append: Be kind.", "not chosen"),
    ]
    assert (tried.changes[0].support, tried.changes[0].tasks) == (2, ("a", "b"))
    assert "quote it exactly" in tried.changes[1].why
    assert tried.patterns == (pattern,)


@pytest.mark.parametrize(
    ("candidate", "verdict", "action"),
    [
        (BETTER, BEST, "accept_new_best"),
        (BETTER, GOOD, "accept"),
        (BETTER, BAD, "reject"),
        (BETTER, UNKNOWN, "inconclusive"),
        (UNCHANGED, BAD, "skip_no_patches"),
        (Candidate.unchanged(SEED, "skip_no_rewrite"), BAD, "skip_no_rewrite"),
    ],
)
def test_the_published_word_for_what_a_step_did(candidate: Candidate, verdict: Verdict, action: str) -> None:
    assert action_of(candidate, verdict) == action


def board(*hard: float | None) -> Scoreboard:
    return train(**{f"v{number}": mark for number, mark in enumerate(hard)})


@pytest.mark.parametrize(
    ("gated", "skill", "best"),
    [
        (Gated(verdict=BEST, board=VAL), BETTER.skill, BETTER.skill),
        (Gated(verdict=GOOD, board=VAL), BETTER.skill, SEED),
        (Gated(verdict=BAD, board=VAL), SEED, SEED),
        (Gated(verdict=UNKNOWN, board=VAL), SEED, SEED),
        (Gated(verdict=BEST), SEED, SEED),
    ],
)
def test_a_gate_between_steps_changes_the_skill_and_starts_the_counts_again(
    gated: Gated, skill: Skill, best: Skill
) -> None:
    before = begun().after(outcome(BAD))
    after = before.taking(BETTER, gated, origin="slow_update_epoch_02", step=7)
    assert (after.skill, after.best.skill) == (skill, best)
    if skill is SEED:
        assert after is before
        return
    assert (after.incumbent.origin, after.incumbent.step, after.incumbent.board) == ("slow_update_epoch_02", 7, VAL)
    assert (after.since_accept, after.passed) == (0, frozenset())
    assert after.steps_done == before.steps_done


def test_an_epoch_leaves_its_skill_and_its_advice_and_no_older_one() -> None:
    first = begun().remembering("Be exact.")
    assert (first.epoch_skill, first.memory.advice) == (SEED, "Be exact.")
    assert first.remembering("").memory.advice == ""


def test_a_document_written_differently_keeps_its_score_and_origin() -> None:
    worn = begun().wearing(BETTER.skill)
    assert (worn.skill, worn.best.skill) == (BETTER.skill, SEED)
    assert (worn.incumbent.board, worn.incumbent.origin) == (begun().incumbent.board, "initial_skill")


@pytest.mark.parametrize(
    ("last", "best", "promoted"),
    [
        ((1.0, 0.0), (0.0, 0.0), True),
        ((0.0, 0.0), (0.0, 0.0), False),
        ((0.0, 0.0), (1.0, 0.0), False),
        ((1.0, None), (0.0, 1.0), True),
        ((None, None), (0.0, 0.0), False),
        ((1.0, 1.0), (None, None), False),
    ],
)
def test_the_last_skill_becomes_best_where_it_measured_better(
    last: tuple[float | None, ...], best: tuple[float | None, ...], promoted: bool
) -> None:
    state = TrainState.begin(SEED, board(*best), Metric())
    forced = state.taking(BETTER, Gated(verdict=GOOD, board=board(*last)), origin="slow_update_epoch_02", step=2)
    assert (forced.promoted().best.skill is BETTER.skill) is promoted
    assert forced.promoted().incumbent == forced.incumbent


def test_the_best_that_overtakes_one_it_was_not_compared_with_was_chosen_by_its_own_trials() -> None:
    bar = msgspec.structs.replace(outcome(BEST), gated=Gated(verdict=BEST, board=VAL, bar=VAL))
    assert begun().after(bar).best.fresh
    elsewhere = Standing(skill=Skill.from_text("# Elsewhere\n"), board=VAL, origin="step_0009")
    overtaken = begun().starting_from(elsewhere).after(bar)
    assert not overtaken.best.fresh
    assert overtaken.incumbent == overtaken.best


def test_another_parent_has_passed_nothing_yet() -> None:
    state = begun().after(outcome(BAD, graded=train(a=1.0)))
    assert state.passed == {"a"}
    assert state.starting_from(state.incumbent).passed == {"a"}
    elsewhere = Standing(skill=Skill.from_text("# Elsewhere\n"), board=VAL, origin="step_0009")
    assert state.starting_from(elsewhere).passed == frozenset()


def test_an_accepted_skill_knows_the_edits_that_led_to_it() -> None:
    first = begun().after(outcome(BEST))
    second = apply(first.skill, [Edit(op=EditOp.APPEND, content="Be kind.")])
    edits = first.after(outcome(GOOD, candidate=second, number=2)).incumbent.edits
    assert [edit.content for edit in edits] == ["Be brief.", "Be kind."]
    assert first.after(outcome(GOOD, candidate=second, number=2)).incumbent.lineage == {1, 2}
    assert first.starting_from(begun().incumbent).memory.lineage == frozenset(), "the seed has no change of any step"
    assert first.after(outcome(BAD, candidate=second, number=2)).incumbent.edits == first.incumbent.edits
