from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt.domain.chat import Message
from skillopt.domain.errors import UsageError
from skillopt.domain.tasks import Check, SplitName, Task, TaskSet, ratio_split, split_counts

PUBLISHED = (2, 1, 7)


def task(name: str, text: str | None = None, **fields: object) -> Task:
    row = {"id": name, "input": f"Question {name}" if text is None else text, "reference": "42", **fields}
    return msgspec.convert(row, Task)


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("train", SplitName.TRAIN),
        ("val", SplitName.VAL),
        ("valid_seen", SplitName.VAL),
        ("selection", SplitName.VAL),
        ("test", SplitName.TEST),
        ("valid_unseen", SplitName.TEST),
    ],
)
def test_split_names_and_aliases(name: str, split: SplitName) -> None:
    assert SplitName.parse(name) is split


@pytest.mark.parametrize("name", ["Train", "vall", "dev", ""])
def test_an_unknown_split_is_refused_with_the_valid_ones(name: str) -> None:
    with pytest.raises(UsageError, match=r"Valid: selection, test, train, val, valid_seen, valid_unseen\."):
        SplitName.parse(name)


def test_a_misspelt_split_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="Did you mean 'valid_seen'"):
        SplitName.parse("valid_sen")


@pytest.mark.parametrize(
    "changed",
    [{"input": "else"}, {"context": "c"}, {"context": ""}, {"files": ["a"]}, {"images": ["a"]}],
)
def test_what_a_target_sees_changes_the_public_digest_only(changed: dict[str, object]) -> None:
    before, after = task("a", "q"), task("a", "q", **changed)
    assert before.public_digest != after.public_digest
    assert before.grading_digest == after.grading_digest


@pytest.mark.parametrize(
    "changed", [{"reference": "43"}, {"checks": [{"op": "max_chars", "arg": 5}]}, {"rubric": "be kind"}]
)
def test_what_an_answer_is_measured_by_changes_the_grading_digest_only(changed: dict[str, object]) -> None:
    before, after = task("a", "q"), task("a", "q", **changed)
    assert before.public_digest == after.public_digest
    assert before.grading_digest != after.grading_digest


def test_id_type_and_group_are_part_of_no_digest() -> None:
    before, after = task("a", "q"), task("b", "q", type="t", group="g")
    assert (before.public_digest, before.grading_digest) == (after.public_digest, after.grading_digest)


def test_a_conversation_and_its_text_are_different_content() -> None:
    assert task("a", "hi").public_digest != Task(id="a", input=(Message("user", "hi"),)).public_digest


def test_files_and_images_are_not_mixed_up() -> None:
    assert task("a", "q", files=["x"]).public_digest != task("a", "q", images=["x"]).public_digest


@pytest.mark.parametrize(
    ("reference", "references"), [(None, ()), ("a", ("a",)), (("a", "b"), ("a", "b")), ("", ("",))]
)
def test_references(reference: str | tuple[str, ...] | None, references: tuple[str, ...]) -> None:
    assert Task(id="a", input="q", reference=reference).references == references


def test_a_check_takes_no_boolean() -> None:
    with pytest.raises(msgspec.ValidationError, match="got `bool`"):
        msgspec.json.decode(b'{"op": "max_chars", "arg": true}', type=Check)


@pytest.mark.parametrize(
    ("n", "counts"),
    [
        (177, (35, 18, 124)),
        (246, (49, 25, 172)),
        (400, (80, 40, 280)),
        (10, (2, 1, 7)),
        (3, (1, 0, 2)),
        (2, (0, 0, 2)),
        (1, (0, 0, 1)),
        (0, (0, 0, 0)),
        (15, (3, 1, 11)),
    ],
)
def test_published_split_counts(n: int, counts: tuple[int, int, int]) -> None:
    assert split_counts(n, PUBLISHED) == counts


def test_equal_weights_serve_the_first_split_first() -> None:
    assert split_counts(4, (1, 1, 1)) == (2, 1, 1)
    assert split_counts(5, (1, 1, 1)) == (2, 2, 1)


@given(st.integers(0, 10**6), st.tuples(*[st.integers(1, 1000)] * 3))
def test_split_counts_add_up_and_are_within_one_of_the_share(n: int, ratio: tuple[int, int, int]) -> None:
    counts = split_counts(n, ratio)
    assert sum(counts) == n
    assert all(abs(count * sum(ratio) - n * weight) < sum(ratio) for count, weight in zip(counts, ratio, strict=True))


@pytest.mark.parametrize("ratio", [(2, 1), (2, 1, 0), (2, -1, 7), (2, 1, 7, 1), (True, 1, 7), (2.0, 1, 7)])
def test_an_impossible_ratio_is_refused(ratio: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match="three positive whole numbers"):
        split_counts(10, ratio)


def test_ratio_split_is_pinned_and_loses_nothing() -> None:
    tasks = [task(str(number)) for number in range(10)]
    parts = ratio_split(tasks, PUBLISHED, 42)
    assert [one.id for one in parts.train] == ["7", "3"]
    assert [one.id for one in parts.val] == ["2"]
    assert [one.id for one in parts.test] == ["8", "5", "6", "9", "4", "0", "1"]


def test_a_clean_set_has_no_warnings() -> None:
    tasks = TaskSet.checked(train=[task("a")], val=[task("b")], test=[task("c")])
    assert [tasks.of(split)[0].id for split in SplitName] == ["a", "b", "c"]
    assert tasks.warnings == ()


def test_test_may_be_empty() -> None:
    assert TaskSet.checked(train=[task("a")], val=[task("b")]).test == ()


@pytest.mark.parametrize(
    ("train", "val", "test", "message"),
    [
        ([], ["b"], ["c"], "The train split is empty"),
        (["a"], [], ["c"], "The val split is empty"),
        (["a", "a"], ["b"], [], "'a' stands twice in the train split"),
        (["a"], ["b"], ["c", "c"], "'c' stands twice in the test split"),
        (["a"], ["a"], [], "'a' is in both train and val"),
        (["a"], ["b"], ["a"], "'a' is in both train and test"),
        (["a"], ["b"], ["b"], "'b' is in both val and test"),
    ],
)
def test_unclean_ids_and_empty_splits(train: list[str], val: list[str], test: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        TaskSet.checked(train=[*map(task, train)], val=[*map(task, val)], test=[*map(task, test)])


def test_the_same_content_in_two_splits_is_refused_whatever_the_reference() -> None:
    with pytest.raises(UsageError, match=r"'a' \(train\) and 'c' \(test\) ask the same"):
        TaskSet.checked(train=[task("a", "q")], val=[task("b")], test=[task("c", "q", reference="other")])


def test_the_same_content_twice_in_one_split_is_allowed() -> None:
    assert TaskSet.checked(train=[task("a", "q"), task("b", "q")], val=[task("c")]).warnings == ()


def test_another_context_makes_another_task() -> None:
    assert TaskSet.checked(train=[task("a", "q")], val=[task("b", "q", context="c")]).warnings == ()


def test_all_problems_are_named_together_and_many_are_counted() -> None:
    with pytest.raises(UsageError) as refused:
        TaskSet.checked(train=[task(str(n)) for n in range(9)], val=[task(str(n)) for n in range(9)])
    assert str(refused.value).count("is in both train and val") == 5
    assert "4 more" in str(refused.value)


@pytest.mark.parametrize("twin", ["WHAT is it?", "  What  is\nit ", "What is it!"])
def test_a_near_duplicate_across_splits_warns(twin: str) -> None:
    (warning,) = TaskSet.checked(train=[task("a", "What is it?")], val=[task("b", twin)]).warnings
    assert "'a' (train) and 'b' (val)" in warning


@pytest.mark.parametrize("other", ["What is its?", "What, is it 1.2?", "Whatisit?"])
def test_other_words_do_not_warn(other: str) -> None:
    assert TaskSet.checked(train=[task("a", "What is it?")], val=[task("b", other)]).warnings == ()


def test_punctuation_inside_a_text_makes_a_difference() -> None:
    assert TaskSet.checked(train=[task("a", "1.2 + 3")], val=[task("b", "12 + 3")]).warnings == ()


def test_near_duplicate_conversations_warn() -> None:
    first = Task(id="a", input=(Message("user", "Hello there"),))
    second = Task(id="b", input=(Message("user", "hello  there."),))
    assert TaskSet.checked(train=[first], val=[second]).warnings


def test_who_is_shown_no_images_is_told_that_there_are_some() -> None:
    assert task("a", "q").noting_images("Q") == "Q"
    assert task("a", "q", images=["x"]).noting_images("Q") == "Q\n\n[1 image goes with this task, not shown here.]"
    assert "2 images go with this task" in task("a", "q", images=["x", "y"]).noting_images("Q")
