from __future__ import annotations

from collections.abc import Sequence

import pytest

from skillopt.domain.judging import Unjudged
from skillopt.domain.scores import Score
from skillopt.domain.tasks import Task
from skillopt.kernel.events import PhaseEnded
from skillopt.kernel.run import Run
from skillopt.kernel.work import Asker
from skillopt.phases.judging.marking import Judge, Marked, Paper, agreement, mark
from skillopt.phases.judging.settings import JudgeSettings
from skillopt.testing.conversation import Conversation
from skillopt.testing.scripted import ScriptedChat
from tests.unit.kernel.bench import Bench, Notebook
from tests.unit.phases.judging.judges import Say, judge_who


def paper(
    answer: str = "A cat.", *, references: tuple[str, ...] = (), ruled: Score | None = None, parts: int = 0
) -> Paper:
    """Return an answer to be marked."""
    task = Task(id="a", input="What is it?", rubric="Is it kind?")
    left = Unjudged(answer=answer, rubric="Is it kind?", references=references, ruled=ruled, parts=parts)
    return Paper(task, left)


def marked(
    papers: Sequence[Paper],
    says: Say,
    *,
    repeats: int = 1,
    threshold: float = 0.8,
    shown: list[Conversation] | None = None,
    observers: Sequence[Notebook] = (),
) -> tuple[Marked, ...]:
    """Return what a judge who says this makes of the papers."""
    bench = Bench(ScriptedChat(judge_who(says, shown), model="judge"))
    asker = Asker(verb="judge", role="judge", chat=bench.chat, max_tokens=20_000)
    settings = JudgeSettings(repeats=repeats, threshold=threshold)

    async def work(run: Run) -> tuple[Marked, ...]:
        return await mark(run, "val/judge", Judge(asker=asker, settings=settings), papers)

    return bench.live(work, observers=observers)


def in_turn(*said: object) -> Say:
    return lambda _asked, before: said[min(before, len(said) - 1)]


def score_of(each: Marked) -> tuple[float, float]:
    assert each.score is not None
    return (each.score.hard, each.score.soft)


@pytest.mark.parametrize(
    ("given", "threshold", "hard"),
    [(0.8, 0.8, 1), (0.79, 0.8, 0), (1, 0.8, 1), (0, 0.8, 0), (0.5, 0.5, 1), (1.0, 1.0, 1), ("0.9", 0.8, 1)],
)
def test_right_is_what_reaches_the_threshold(given: object, threshold: float, hard: float) -> None:
    (each,) = marked([paper()], in_turn({"score": given, "reason": "So."}), threshold=threshold)
    assert score_of(each) == (hard, float(str(given)))
    assert each.score is not None
    assert each.score.feedback == "So."


@pytest.mark.parametrize(
    ("marks", "soft"),
    [((0.9, 0.1, 0.8), 0.8), ((0.1, 0.2, 0.9), 0.2), ((0.4, 0.8), 0.6), ((1.0, 1.0, 0.0, 0.0, 0.7), 0.7)],
)
def test_the_mark_is_the_median_of_the_readings(marks: tuple[float, ...], soft: float) -> None:
    says = in_turn(*({"score": one, "reason": f"It is {one}."} for one in marks))
    (each,) = marked([paper()], says, repeats=len(marks))
    assert score_of(each)[1] == pytest.approx(soft)
    assert each.score is not None
    near = min(abs(one - soft) for one in marks)
    assert each.score.feedback in {f"It is {one}." for one in marks if abs(one - soft) <= near + 1e-9}


def test_all_readings_of_all_answers_are_asked_in_one_phase() -> None:
    notebook, shown = Notebook(), list[Conversation]()
    found = marked([paper("one"), paper("two")], in_turn({"score": 1.0}), repeats=3, shown=shown, observers=[notebook])
    assert [score_of(each) for each in found] == [(1.0, 1.0)] * 2
    assert len({each.digest for each in shown}) == len(shown) == 6
    (ended,) = [fact for fact in notebook.facts if isinstance(fact, PhaseEnded)]
    assert (ended.path, ended.verb, ended.role, ended.answered) == ("val/judge", "judge", "judge", 6)


def test_more_repeats_ask_the_readings_there_were_and_more() -> None:
    asked = []
    for repeats in (1, 3):
        shown: list[Conversation] = []
        marked([paper()], in_turn({"score": 1.0}), repeats=repeats, shown=shown)
        asked.append({each.digest for each in shown})
    assert asked[0] < asked[1]


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        (None, "judge: ContextError"),
        ("I would rather not say.", "judge: Unreadable"),
        ({"score": 8}, "judge: Unreadable"),
        ({"score": -0.1}, "judge: Unreadable"),
        ({"score": None}, "judge: Unreadable"),
        ({"score": "high"}, "judge: Unreadable"),
        ({"score": "nan"}, "judge: Unreadable"),
        ({"score": True}, "judge: Unreadable"),
        ({"reason": "No score."}, "judge: Unreadable"),
    ],
)
def test_without_a_readable_mark_there_is_no_score_and_no_zero(said: object, cause: str) -> None:
    (each,) = marked([paper()], in_turn(said))
    assert (each.score, each.passes) == (None, ())
    assert each.cause is not None
    assert each.cause == cause or (said is None and each.cause.startswith("judge: ") and each.cause != "judge: ")


def test_an_unreadable_reply_is_sent_back_once() -> None:
    (each,) = marked([paper()], in_turn("Hm.", {"score": 0.9}))
    assert score_of(each) == (1.0, 0.9)


@pytest.mark.parametrize(("lost", "repeats", "scored"), [(1, 3, True), (2, 3, False), (1, 2, False), (2, 5, True)])
def test_a_score_takes_more_than_half_of_the_readings(lost: int, repeats: int, scored: bool) -> None:
    says = in_turn(*[None] * lost, *[{"score": 0.9}] * repeats)
    (each,) = marked([paper()], says, repeats=repeats)
    assert (each.score is not None) is scored
    assert (each.cause is None) is scored
    assert len(each.passes) == repeats - lost


def test_what_rules_found_counts_too() -> None:
    ruled = Score(hard=0.0, soft=0.5, feedback="Too long.")
    (each,) = marked([paper(ruled=ruled, parts=2)], in_turn({"score": 1.0, "reason": "Kind."}))
    assert score_of(each) == pytest.approx((0.0, 2 / 3))
    assert each.score is not None
    assert each.score.feedback == "Kind.\nToo long."


def test_a_judge_sees_task_rubric_references_and_answer_and_no_more() -> None:
    shown: list[Conversation] = []
    marked([paper("A {{score}} cat.", references=("tomcat",))], in_turn({"score": 1.0}), shown=shown)
    (seen,) = shown
    assert seen.system.startswith("Task: judge\n")
    for text in ("What is it?", "Is it kind?", "tomcat", "A {{score}} cat."):
        assert seen.asked.count(text) == 1
    assert "0.8" not in seen.everything, "a judge that knows the threshold marks to it"


def test_a_reason_never_quotes_a_reference() -> None:
    reason = {"score": 0.2, "reason": "It should say TOMCAT, the tomcat, or 42 of (them)."}
    (each,) = marked([paper(references=("tomcat", "42", "(them)"))], in_turn(reason))
    assert each.score is not None
    assert each.score.feedback == "It should say […], the […], or 42 of […]."


def test_a_long_reason_is_shortened() -> None:
    (each,) = marked([paper()], in_turn({"score": 0.2, "reason": "so " * 5000}))
    assert each.score is not None
    assert len(each.score.feedback) < 1200


def test_agreement_counts_pairs_of_readings_that_differ() -> None:
    def says(asked: str, _before: int) -> object:
        return None if "lost" in asked else {"score": len(asked.split("<answer-")[1]) % 2}

    steady = [Marked(score=Score(hard=1, soft=1), cause=None, passes=(True, True))]
    split = [Marked(score=Score(hard=1, soft=1), cause=None, passes=(True, False, True))]
    alone = [Marked(score=Score(hard=1, soft=1), cause=None, passes=(True,))]
    lost = list(marked([paper("lost")], says))
    found = agreement([*steady, *split, *alone, *lost])
    assert (found.answers, found.unscored, found.compared) == (4, 1, 2)
    assert found.disagreed == pytest.approx(2 / 3)
    assert found.flip_rate == pytest.approx(1 / 3)
