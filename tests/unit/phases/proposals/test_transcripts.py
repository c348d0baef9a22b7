from __future__ import annotations

import msgspec
import pytest

from skillopt.domain.agency.transcripts import Action, Transcript
from skillopt.domain.chat import Message
from skillopt.domain.rollouts import Turn
from skillopt.domain.scores import Score, Scored
from skillopt.domain.tasks import Task
from skillopt.phases.proposals.transcripts import Case, Shown, shown_case, shown_cases, tokens_of

SHOWN = Shown(tokens=1000, references=False, trace=True)


def case(asked: str = "Q", answer: str = "A", feedback: str = "F", reference: str | None = "R") -> Case:
    task = Task(id="t", input=asked, reference=reference, type="kind")
    return Case(task, answer, Scored(task_id="t", score=Score(hard=0, soft=0, feedback=feedback)))


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2)])
def test_a_token_is_about_four_characters(text: str, tokens: int) -> None:
    assert tokens_of(text) == tokens


def test_a_short_case_is_shown_whole() -> None:
    shown = shown_case(2, case(), Shown(tokens=1000, references=True, trace=True))
    assert shown == ("# Task 2 (kind)\n\nQ\n\n## Answer\n\nA\n\n## What grading found\n\nF\n\n## Right answer\n\nR")


def test_context_and_chat_turns_are_part_of_the_task() -> None:
    turns = (Message("user", "first"), Message("assistant", "second"))
    task = Task(id="t", input=turns, context="Given this.", reference="R")
    shown = shown_case(1, Case(task, "A", Scored(task_id="t", score=Score(hard=0, soft=0))), SHOWN)
    assert shown == "# Task 1\n\nGiven this.\n\nfirst\nsecond\n\n## Answer\n\nA"


def test_what_grading_found_and_the_end_of_the_answer_survive_longest() -> None:
    long = case(asked="q" * 50_000, answer="a" * 50_000 + " so it is 7.", feedback="It should be 8.")
    shown = shown_case(1, long, Shown(tokens=200, references=False, trace=True))
    assert "It should be 8." in shown
    assert "so it is 7." in shown
    assert shown.count("tokens left out …]") == 2
    assert len(shown) < 200 * 4 * 1.5


def test_a_short_task_leaves_its_room_to_the_answer() -> None:
    shown = shown_case(1, case(answer="a" * 3000), SHOWN)
    assert "left out" not in shown


def test_the_word_on_what_is_left_out_counts_it() -> None:
    shown = shown_case(
        1, case(asked="q" * 4000, answer="", feedback=""), Shown(tokens=100, references=False, trace=True)
    )
    assert f"[… about {tokens_of('q' * (4000 - shown.count('q')))} tokens left out …]" in shown


def test_a_bound_is_shared_by_the_cases_and_none_is_dropped() -> None:
    cases = [case(answer="a" * 50_000)] * 10
    shown = shown_cases(cases, SHOWN, room=2000)
    assert len(shown) == 10
    assert sum(tokens_of(each) for each in shown) < 2000 * 1.2
    assert [each.partition("\n")[0] for each in shown] == [f"# Task {number} (kind)" for number in range(1, 11)]
    assert shown_cases(cases[:1], SHOWN, room=10**6) == (shown_case(1, cases[0], SHOWN),)
    assert shown_cases([], SHOWN, room=0) == ()


def test_what_was_said_after_an_answer_comes_last_and_takes_a_quarter_at_most() -> None:
    turns = (Turn(feedback="w" * 900, text="Better."),)
    task = Task(id="t", input="Q")
    graded = Scored(task_id="t", score=Score(hard=0, soft=0))
    shown = shown_case(1, Case(task, "A", graded, turns), Shown(tokens=100, references=False, trace=True))
    heading = "## What was said after that, which did not count"
    assert shown.startswith("# Task 1\n\nQ\n\n## Answer\n\nA\n\n" + heading)
    assert shown.endswith("Better.")
    assert len(shown) < 200 + len(heading)


def test_images_are_told_of() -> None:
    task = Task(id="t", input="Q", images=("a.png",), reference="R")
    shown = shown_case(1, Case(task, "A", Scored(task_id="t", score=Score(hard=0, soft=0))), SHOWN)
    assert shown == "# Task 1\n\nQ\n\n[1 image goes with this task, not shown here.]\n\n## Answer\n\nA"


def sent(steps: int) -> Case:
    """Return a case that an agent worked on."""
    actions = tuple(Action(kind="ran", text=f"step {number} " + "x" * 60, tool="shell") for number in range(steps))
    did = Transcript(program="mender 1", actions=actions, calls=(("shell", steps),), skill_opened="no")
    plain = case(asked="q" * 2000, answer="so it is 7.")
    return msgspec.structs.replace(plain, did=did)


def test_of_an_agent_it_is_shown_how_it_went_about_it() -> None:
    shown = shown_case(1, sent(3), SHOWN)
    did = shown.partition("## What the agent did\n\n")[2].partition("## Answer")[0]
    assert "skill opened: no" in did
    assert [f"step {number}" in did for number in range(3)] == [True] * 3
    assert shown.index("## What the agent did") < shown.index("## Answer") < shown.index("## What grading found")


def test_where_the_way_to_an_answer_is_not_shown_neither_are_the_steps() -> None:
    shown = shown_case(1, sent(3), msgspec.structs.replace(SHOWN, trace=False))
    assert "skill opened: no" in shown
    assert "step 1" not in shown


@pytest.mark.parametrize("tokens", [100, 400, 1000])
def test_many_steps_take_no_more_than_their_share_of_the_room(tokens: int) -> None:
    shown = shown_case(1, sent(500), msgspec.structs.replace(SHOWN, tokens=tokens))
    assert "so it is 7." in shown
    assert len(shown) < tokens * 4 + 500
