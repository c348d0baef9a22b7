from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from skillopt.domain.chat import Message
from skillopt.domain.errors import TaskError, UsageError
from skillopt.domain.judging import Unjudged
from skillopt.domain.scores import Score
from skillopt.domain.tasks import Check, Task, TaskSet
from skillopt.environments.dataset import Dataset, DatasetSettings, LimitSettings, SplitSettings

PNG = b"\x89PNG\r\n\x1a\n"


def row(name: str, **fields: object) -> dict[str, object]:
    return {"id": name, "input": f"Question {name}", "reference": "42", **fields}


def write(path: Path, rows: list[dict[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))


def one_file(folder: Path, *rows: dict[str, object], **settings: object) -> Dataset:
    write(folder / "tasks.jsonl", [*rows, *(row(f"filler-{n}") for n in range(10))])
    return Dataset.load(msgspec.convert({"path": "tasks.jsonl", **settings}, DatasetSettings), folder)


def refusal(folder: Path, bad: dict[str, object], **settings: object) -> str:
    with pytest.raises(UsageError) as refused:
        one_file(folder, bad, **settings)
    return str(refused.value)


def grading(**settings: object) -> Dataset:
    return Dataset(msgspec.convert({"path": "unused", **settings}, DatasetSettings), TaskSet())


def scored(environment: Dataset, asked: Task, reply: str) -> Score:
    score = environment.grade(asked, reply)
    assert isinstance(score, Score)
    return score


def task(**fields: object) -> Task:
    return msgspec.convert({"id": "a", "input": "q", **fields}, Task)


def ids(tasks: tuple[Task, ...]) -> list[str]:
    return [one.id for one in tasks]


def test_one_file_is_cut_by_ratio_and_seed(tmp_path: Path) -> None:
    write(tmp_path / "tasks.jsonl", [row(str(n)) for n in range(10)])
    tasks = Dataset.load(DatasetSettings(path="tasks.jsonl"), tmp_path).tasks
    assert (ids(tasks.train), ids(tasks.val)) == (["7", "3"], ["2"])
    assert ids(tasks.test) == ["8", "5", "6", "9", "4", "0", "1"]
    split = SplitSettings(ratio=(1, 1, 1), seed=1)
    other = Dataset.load(DatasetSettings(path="tasks.jsonl", split=split), tmp_path).tasks
    assert [len(other.train), len(other.val), len(other.test)] == [4, 3, 3]


@pytest.mark.parametrize(
    "names",
    [
        ("train.jsonl", "val.jsonl", "test.jsonl"),
        ("train.jsonl", "valid_seen.jsonl", "valid_unseen.jsonl"),
        ("train.jsonl", "selection.jsonl", "test.jsonl"),
        ("train/items.jsonl", "val/a.jsonl", "test/b.jsonl"),
    ],
)
def test_a_folder_is_split_already(tmp_path: Path, names: tuple[str, str, str]) -> None:
    for name in names:
        write(tmp_path / "tasks" / name, [row(f"{name}-1"), row(f"{name}-2")])
    tasks = Dataset.load(DatasetSettings(path="tasks"), tmp_path).tasks
    assert [ids(tasks.train)[0], ids(tasks.val)[0], ids(tasks.test)[0]] == [f"{name}-1" for name in names]


def test_a_folder_may_do_without_test_but_not_without_val(tmp_path: Path) -> None:
    write(tmp_path / "train.jsonl", [row("a")])
    with pytest.raises(UsageError, match=r"no file for the val split.*valid_seen"):
        Dataset.load(DatasetSettings(path="."), tmp_path)
    write(tmp_path / "val.jsonl", [row("b")])
    assert Dataset.load(DatasetSettings(path="."), tmp_path).tasks.test == ()


def test_two_files_for_one_split_are_refused(tmp_path: Path) -> None:
    for name in ("train.jsonl", "val.jsonl", "valid_seen.json"):
        write(tmp_path / name, [row(name)])
    with pytest.raises(UsageError, match="val split has several files"):
        Dataset.load(DatasetSettings(path="."), tmp_path)


def test_a_folder_is_not_cut_again(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="split already"):
        Dataset.load(DatasetSettings(path=".", split=SplitSettings()), tmp_path)


def test_overlap_between_files_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "train.jsonl", [row("a")])
    write(tmp_path / "val.jsonl", [row("b", input="Question a")])
    with pytest.raises(UsageError, match="ask the same"):
        Dataset.load(DatasetSettings(path="."), tmp_path)


def test_limits_take_the_first_of_each_split(tmp_path: Path) -> None:
    for name in ("train", "val", "test"):
        write(tmp_path / f"{name}.jsonl", [row(f"{name}{n}") for n in range(3)])
    limit = LimitSettings(train=2, test=1)
    tasks = Dataset.load(DatasetSettings(path=".", limit=limit), tmp_path).tasks
    assert (ids(tasks.train), len(tasks.val), ids(tasks.test)) == (["train0", "train1"], 3, ["test0"])


def test_warnings_of_files_and_splits_come_together(tmp_path: Path) -> None:
    write(tmp_path / "train.jsonl", [row("a")])
    (tmp_path / "val.jsonl").write_text(json.dumps(row("b", input="question A")) + '\n{"id')
    torn, near = Dataset.load(DatasetSettings(path="."), tmp_path).tasks.warnings
    assert "cut off" in torn
    assert "Nearly the same" in near


def test_missing_tasks_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no tasks at .*environment\.path"):
        Dataset.load(DatasetSettings(path="none.jsonl"), tmp_path)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"id": " "}, "id is empty"),
        ({"input": " "}, "input is empty"),
        ({"input": []}, "without a user message"),
        ({"input": [{"role": "system", "content": "x"}]}, "without a user message"),
        ({"reference": None}, "one of reference, checks or rubric is needed"),
        ({"reference": None, "checks": []}, "one of reference, checks or rubric is needed"),
        ({"reference": ""}, "a reference must be a text"),
        ({"reference": []}, "a reference must be a text"),
        ({"reference": ["a", " "]}, "a reference must be a text"),
        ({"rubric": " "}, "rubric is empty"),
        ({"checks": [{"op": "max_char", "arg": 5}]}, "Did you mean 'max_chars'"),
        ({"checks": [{"op": "regex", "arg": "("}]}, "cannot be used"),
        ({"files": ["none.txt"]}, "does not exist"),
        ({"images": [""]}, "does not exist"),
    ],
)
def test_an_unusable_row_is_named(tmp_path: Path, fields: dict[str, object], says: str) -> None:
    message = refusal(tmp_path, row("a", **fields))
    assert "tasks.jsonl line 1: " in message
    assert says in message


def test_a_reference_must_suit_the_grader(tmp_path: Path) -> None:
    assert "for grader 'number' a reference must be" in refusal(tmp_path, row("a", reference="many"), grader="number")


def test_a_conversation_does_not_fit_a_user_template(tmp_path: Path) -> None:
    bad = row("a", input=[{"role": "user", "content": "x"}])
    assert "cannot take" in refusal(tmp_path, bad, prompt={"user": "{input}"})


@pytest.mark.parametrize("fields", [{"rubric": "r"}, {"checks": [{"op": "no_refusal"}]}, {"reference": ["a", "b"]}])
def test_any_way_of_grading_is_enough(tmp_path: Path, fields: dict[str, object]) -> None:
    bare = {"id": "a", "input": "q", **fields}
    tasks = one_file(tmp_path, bare).tasks
    assert "a" in ids((*tasks.train, *tasks.val, *tasks.test))


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"grader": "exct"}, "Unknown grader 'exct'. Did you mean 'exact'"),
        ({"answer": "tags"}, "Unknown answer mode 'tags'. Did you mean 'tag'"),
        ({"answer": {"regex": "("}}, "cannot be used"),
        ({"split": {"ratio": [1, 1, 0]}}, "three positive whole numbers"),
    ],
)
def test_misspelt_settings_are_refused(tmp_path: Path, settings: dict[str, object], says: str) -> None:
    assert says in refusal(tmp_path, row("a"), **settings)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_is_at_least_one(limit: int) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"path": "x", "limit": {"val": limit}}, DatasetSettings)


@pytest.mark.parametrize(
    "name", ["../secret.txt", "/etc/hostname", "a/../../secret.txt", "a\\..\\x", "C:\\x", "link.txt"]
)
def test_files_stay_inside_the_task_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.txt").write_text("s")
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "link.txt").symlink_to(tmp_path / "secret.txt")
    assert "lies outside the task folder" in refusal(tmp_path / "tasks", row("a", files=[name]))


def test_files_inside_and_files_allowed_are_fine(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "a.txt").write_text("a")
    (tmp_path / "tasks" / "sub").mkdir(parents=True)
    (tmp_path / "tasks" / "sub" / "b.png").write_bytes(PNG)
    good = row("a", files=["../shared/a.txt", str(tmp_path / "shared" / "a.txt")], images=["sub/b.png"])
    tasks = one_file(tmp_path / "tasks", good, allow_paths=["../shared"]).tasks
    assert "a" in ids((*tasks.train, *tasks.val, *tasks.test))


def test_a_name_no_file_can_have_is_refused(tmp_path: Path) -> None:
    assert "cannot be used" in refusal(tmp_path, row("a", files=["a\0b"]))


def test_messages_go_through_the_prompt() -> None:
    dataset = grading(prompt={"user": "Q: {input}"})
    assert dataset.messages(task(), "skill") == (Message("system", "skill"), Message("user", "Q: q"))


@pytest.mark.parametrize(
    ("settings", "reply", "hard"),
    [
        ({}, "So: <answer>Forty Two!</answer>", 1),
        ({}, " forty two ", 1),
        ({}, "It is forty two", 0),
        ({"answer": "last_line"}, "thinking\nforty two\n", 1),
        ({"answer": "full"}, "<answer>forty two</answer>", 0),
        ({"answer": {"regex": "=> (.*)"}}, "=> forty two", 1),
        ({"grader": "contains"}, "It is forty two", 1),
        ({}, "<answer></answer>", 0),
    ],
)
def test_the_answer_is_found_and_graded(settings: dict[str, object], reply: str, hard: float) -> None:
    assert scored(grading(**settings), task(reference="forty two"), reply).hard == hard


def test_checks_look_at_the_answer_but_tools_at_the_whole_reply() -> None:
    checks = [{"op": "max_chars", "arg": 2}, {"op": "tool_called", "arg": "search"}]
    assert scored(grading(), task(checks=checks), "TOOL_CALL: search\n<answer>42</answer>").hard == 1.0


@pytest.mark.parametrize(
    ("reply", "hard", "soft"),
    [("42", 1, 1), ("41", 0, 2 / 3), ("42 is it", 0, 1 / 3), ("41 is it", 0, 1 / 3), ("", 0, 0)],
)
def test_a_reference_beside_checks_counts_as_one_more(reply: str, hard: float, soft: float) -> None:
    checks = [{"op": "max_chars", "arg": 2}, {"op": "no_refusal"}]
    score = scored(grading(), task(reference="42", checks=checks), reply)
    assert score.hard == hard
    assert score.soft == pytest.approx(soft)


def test_feedback_of_both_is_kept() -> None:
    score = scored(grading(), task(reference="42", checks=[{"op": "max_chars", "arg": 2}]), "forty-one")
    assert score.feedback == "The answer is not the expected one.\nThe answer has 9 characters; at most 2 are allowed."


def test_a_rubric_leaves_the_answer_to_a_judge() -> None:
    left = grading().grade(task(rubric="Is it kind?"), "Well: <answer>42</answer>")
    assert left == Unjudged(answer="42", rubric="Is it kind?")


def test_what_rules_find_is_kept_for_when_the_judge_has_spoken() -> None:
    checks = [{"op": "max_chars", "arg": 2}, {"op": "contains", "arg": "4"}]
    left = grading().grade(task(rubric="Is it kind?", reference=["42", "43"], checks=checks), "41")
    assert isinstance(left, Unjudged)
    assert left.references == ("42", "43")
    assert left.scored(Score(hard=1, soft=1)).hard == 0.0
    assert left.scored(Score(hard=1, soft=1)).soft == pytest.approx(3 / 4)
    assert left.scored(Score(hard=0, soft=0.5, feedback="Curt.")).soft == pytest.approx(2.5 / 4)
    told = left.scored(Score(hard=0, soft=0.5, feedback="Curt.")).feedback
    assert told == "Curt.\nThe answer is not the expected one."


@pytest.mark.parametrize("reply", ["", "  \n", "<answer> </answer>"])
def test_an_empty_answer_is_wrong_by_any_rubric(reply: str) -> None:
    score = scored(grading(), task(rubric="Is it kind?"), reply)
    assert (score.hard, score.soft) == (0.0, 0.0)
    assert "empty" in score.feedback


def test_a_task_without_any_measure_is_an_error_and_not_a_score() -> None:
    with pytest.raises(TaskError):
        grading().grade(task(), "42")


def test_another_grader_asks_the_same_so_that_answers_serve_again() -> None:
    settings = [
        DatasetSettings(path="x"),
        DatasetSettings(path="x", grader="f1"),
        DatasetSettings(path="y", answer="full"),
    ]
    assert len({Dataset(one, TaskSet()).version for one in settings}) == 1


def test_checks_of_a_task_are_plain_values() -> None:
    assert task(checks=[{"op": "max_chars", "arg": 2}]).checks == (Check("max_chars", 2),)


def test_images_go_with_the_first_user_message_and_only_where_a_task_has_some(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    talk = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}, {"role": "user", "content": "z"}]
    dataset = one_file(tmp_path, row("a", images=["a.png"]), row("b", input=talk, images=["a.png", "a.png"]))
    put = {each.id: dataset.messages(each, "skill") for each in dataset.tasks.all}
    assert [len(message.images) for message in put["a"]] == [0, 1]
    assert [len(message.images) for message in put["b"]] == [0, 2, 0, 0]
    assert not any(message.images for message in put["filler-1"])
    assert put["a"][1].images[0].data == PNG


def test_only_images_of_tasks_within_the_limit_are_opened(tmp_path: Path) -> None:
    (tmp_path / "bad.png").write_bytes(b"no picture")
    (tmp_path / "tasks").mkdir()
    for split in ("train", "val"):
        shown = row(f"{split}-2", images=["../bad.png"])
        write(tmp_path / "tasks" / f"{split}.jsonl", [row(f"{split}-1"), shown])
    settings = {"path": "tasks", "allow_paths": ["."], "limit": {"train": 1, "val": 1}}
    assert not Dataset.load(msgspec.convert(settings, DatasetSettings), tmp_path).images
    with pytest.raises(UsageError, match=r"Task 'val-2': image '\.\./bad\.png' is no PNG"):
        Dataset.load(msgspec.convert({**settings, "limit": {"train": 1}}, DatasetSettings), tmp_path)
