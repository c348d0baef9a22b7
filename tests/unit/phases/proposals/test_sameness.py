from __future__ import annotations

from itertools import combinations

import pytest

from skillopt.domain.skill import Change, Draft, Edit, EditOp, Patch, Suggestion, SuggestionKind
from skillopt.phases.proposals.sameness import distinct, identity, joined, related, supported
from skillopt.testing.worlds import HIDDEN_RULES, RULES


def append(content: str, *, file: str = "SKILL.md", minibatch: int = 0) -> Edit:
    return Edit(op=EditOp.APPEND, content=content, file=file, minibatches=(minibatch,), source="failure")


def replace(target: str, content: str) -> Edit:
    return Edit(op=EditOp.REPLACE, target=target, content=content)


def suggest(instruction: str, kind: SuggestionKind = "add_rule") -> Suggestion:
    return Suggestion(kind=kind, instruction=instruction)


@pytest.mark.parametrize(
    ("one", "other", "answer"),
    [
        pytest.param(append("Use commas."), append("Cite sources."), False, id="different matters"),
        pytest.param(append("Use ISO dates."), append("Write dates as YYYY-MM-DD."), True, id="the same matter"),
        pytest.param(append("Use commas."), append("Use commas.", file="a.md"), False, id="different files"),
        pytest.param(replace("Be brief.", "Be terse."), replace("Be kind.", "Be gentle."), False, id="apart"),
        pytest.param(replace("Be brief.", "Alpha"), replace("brief", "Omega"), True, id="one place lies in the other"),
        pytest.param(append("And it must not, ever."), append("The one that must."), False, id="words of any sentence"),
        pytest.param(append(""), append(""), False, id="no words"),
        pytest.param(suggest("Use commas."), suggest("Cite sources."), False, id="suggestions apart"),
        pytest.param(suggest("Use commas."), suggest("Drop commas."), True, id="suggestions on one matter"),
        pytest.param(suggest("Use commas."), suggest("Shorten it.", "compress"), True, id="the whole document"),
        pytest.param(Draft(new_skill="a"), Draft(new_skill="b"), True, id="documents"),
    ],
)
def test_what_somebody_should_look_at_together(one: Change, other: Change, answer: bool) -> None:
    assert related(one, other) is answer
    assert related(other, one) is answer


@pytest.mark.parametrize("book", [RULES, HIDDEN_RULES])
def test_sentences_on_different_matters_are_not_related(book: object) -> None:
    sentences = [rule.sentence for rule in (RULES if book is RULES else HIDDEN_RULES).rules]
    assert not [pair for pair in combinations(sentences, 2) if related(append(pair[0]), append(pair[1]))]


def test_a_change_stays_where_it_was_proposed_first_and_has_all_of_its_support() -> None:
    patches = [
        Patch(reasoning="one", edits=(append("a", minibatch=0), append("b", minibatch=0))),
        Patch(reasoning="two", edits=(append("A.", minibatch=1),)),
        Patch(reasoning="three", edits=(append("c", minibatch=2), append("b", minibatch=2))),
    ]
    first, second, third = distinct(patches)
    assert [(edit.content, edit.support) for edit in first.edits] == [("a", 2), ("b", 2)]
    assert second.edits == ()
    assert [(edit.content, edit.support) for edit in third.edits] == [("c", 1)]


def test_one_minibatch_counts_once_and_those_of_the_other_kind_are_others() -> None:
    one, again, success = (
        append("a"),
        append("a"),
        Edit(op=EditOp.APPEND, content="a", source="success", minibatches=(0,)),
    )
    assert joined(one, again).support == 1
    assert joined(one, success).support == 2


def test_support_goes_to_the_words_that_were_kept_before_it_goes_to_similar_ones() -> None:
    inputs = [append("Use short names.", minibatch=0), append("Use short titles.", minibatch=1)]
    merged = [append("Use short names and titles."), append("use short titles")]
    general, exact = supported(merged, inputs)
    assert (general.support, general.minibatches) == (1, (0,))
    assert (exact.support, exact.minibatches) == (1, (1,))


def test_an_input_that_resembles_nothing_supports_nothing() -> None:
    (kept,) = supported([append("Cite sources.")], [append("Use commas.")])
    assert (kept.support, kept.tasks, kept.source) == (0, (), "merged")
    assert supported([], [append("Use commas.")]) == ()


def test_kinds_of_suggestions_differ() -> None:
    assert identity(suggest("Use commas.")) != identity(suggest("Use commas.", "remove_rule"))
