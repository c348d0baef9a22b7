from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from skillopt.domain.judging import Comparison, Unjudged
from skillopt.domain.tasks import Task
from skillopt.kernel.run import Run
from skillopt.kernel.work import Asker
from skillopt.phases.judging.comparing import Pair, compare
from skillopt.phases.judging.marking import Judge
from skillopt.phases.judging.settings import JudgeSettings
from skillopt.testing.conversation import Conversation
from skillopt.testing.scripted import ScriptedChat
from tests.unit.kernel.bench import Bench
from tests.unit.phases.judging.judges import Say, judge_who

ANSWERS = re.compile(r"<(?:first|second)-answer-\w+>\n(.*)\n")


def pair(old: str = "old", new: str = "new", name: str = "a") -> Pair:
    """Return two answers to one task."""
    task = Task(id=name, input="What is it?", rubric="Is it kind?")
    return Pair(
        task=task, old=Unjudged(answer=old, rubric="Is it kind?"), new=Unjudged(answer=new, rubric="Is it kind?")
    )


def compared(
    pairs: Sequence[Pair], says: Say, *, repeats: int = 1, shown: list[Conversation] | None = None
) -> tuple[Comparison, ...]:
    """Return what a judge who says this makes of the pairs."""
    bench = Bench(ScriptedChat(judge_who(says, shown), model="judge"))
    asker = Asker(verb="judge", role="judge", chat=bench.chat, max_tokens=200)

    async def work(run: Run) -> tuple[Comparison, ...]:
        judge = Judge(asker=asker, settings=JudgeSettings(repeats=repeats, mode="pairwise"))
        return await compare(run, "compare", judge, pairs)

    return bench.live(work)


def prefers(*best_first: str) -> Say:
    """Prefer the answer that stands further to the front here."""

    def says(asked: str, _before: int) -> object:
        first, second = map(best_first.index, ANSWERS.findall(asked))
        return {"better": "neither" if first == second else "first" if first < second else "second"}

    return says


@pytest.mark.parametrize(("best_first", "preferred"), [(("new", "old"), "new"), (("old", "new"), "old")])
@pytest.mark.parametrize("repeats", [1, 3])
def test_the_better_answer_is_found_wherever_it_stands(
    best_first: tuple[str, ...], preferred: str, repeats: int
) -> None:
    (found,) = compared([pair()], prefers(*best_first), repeats=repeats)
    assert (found.preferred, found.swayed) == (preferred, False)


@pytest.mark.parametrize("place", ["first", "second"])
@pytest.mark.parametrize("repeats", [1, 2])
def test_a_judge_who_goes_by_the_place_has_no_preference(place: str, repeats: int) -> None:
    (found,) = compared([pair()], lambda _asked, _before: {"better": place}, repeats=repeats)
    assert (found.preferred, found.swayed) == ("neither", True)


def test_an_honest_tie_is_not_swayed() -> None:
    (found,) = compared([pair()], lambda _asked, _before: {"better": "neither"})
    assert (found.preferred, found.swayed) == ("neither", False)


def test_equal_answers_are_a_tie_that_nobody_is_asked_about() -> None:
    shown: list[Conversation] = []
    found = compared(
        [pair("same", "same", "a"), pair(name="b"), pair("x", "x", "c")], prefers("new", "old"), shown=shown
    )
    assert [(each.task_id, each.preferred) for each in found] == [("a", "neither"), ("b", "new"), ("c", "neither")]
    assert len(shown) == 2


def test_both_orders_are_shown_and_nothing_says_which_is_which() -> None:
    shown: list[Conversation] = []
    compared([pair("one text", "another text")], lambda _asked, _before: {"better": "neither"}, repeats=2, shown=shown)
    orders = sorted(tuple(ANSWERS.findall(each.asked)) for each in shown)
    assert orders == [("another text", "one text")] * 2 + [("one text", "another text")] * 2
    assert len({each.digest for each in shown}) == 4
    for each in shown:
        assert each.system.startswith("Task: compare\n")
        assert not re.search(r"\b(old|new|candidate|incumbent|skill)\b", each.everything)


@pytest.mark.parametrize("said", [None, "Hard to say.", {"better": "both"}, {"score": 1.0}])
def test_one_lost_reply_is_no_comparison_and_no_preference(said: object) -> None:
    def says(asked: str, _before: int) -> object:
        return {"better": "first"} if ANSWERS.findall(asked)[:1] == ["new"] else said

    (found,) = compared([pair()], says)
    assert found.preferred is None
    assert found.cause is not None
    assert found.cause.startswith("judge: ")
