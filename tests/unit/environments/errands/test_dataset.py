from __future__ import annotations

import hashlib
import json
from pathlib import Path

import msgspec
import pytest

from skillopt.domain.agency.transcripts import LeftFile, Transcript
from skillopt.domain.chat import Image, Message
from skillopt.domain.errors import UsageError
from skillopt.domain.judging import Unassessed
from skillopt.domain.scores import Score
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import Check, Task, TaskSet
from skillopt.environments.command.settings import CommandSettings
from skillopt.environments.dataset import Dataset, DatasetSettings
from skillopt.environments.errands.dataset import AgentDataset, tools_of

SKILL = Skill.from_text("# Sums\n\nCarry the one.\n")
PLAIN = Task(id="secret-id", input="Add them up.", context="Numbers.", reference="4711", files=("in.csv", "deep/a.txt"))
PHOTO = Image(media_type="image/png", digest=hashlib.sha256(b"\x89PNG").hexdigest(), fetch=lambda: b"\x89PNG")
CALLS = Task(id="b", input="Look it up.", checks=(Check("tool_called", "search"),))


def environment(folder: Path, *tasks: Task, **settings: object) -> AgentDataset:
    (folder / "deep").mkdir(exist_ok=True)
    (folder / "in.csv").write_bytes(b"1,2")
    (folder / "deep" / "a.txt").write_bytes(b"a")
    (folder / "photo.png").write_bytes(b"\x89PNG")
    section = msgspec.convert({"path": "tasks", **settings}, DatasetSettings)
    splits = TaskSet(train=tasks[:1], val=tasks[1:2], test=tasks[2:])
    return AgentDataset.of(Dataset(section, splits, {"photo.png": PHOTO}), folder, {})


def did(*calls: str, shims: tuple[str, ...] = (), files: tuple[LeftFile, ...] = ()) -> Transcript:
    return Transcript(program="mender 1", calls=tuple((name, 1) for name in calls), shims=shims, files=files)


def test_an_errand_has_the_task_its_files_and_the_skill_and_never_a_reference_a_check_or_an_id(tmp_path: Path) -> None:
    task = msgspec.structs.replace(
        PLAIN, checks=(Check("contains", "hush-hush"),), rubric="Is it 4711?", images=("photo.png",)
    )
    errand = environment(tmp_path, task).errand(task, SKILL)
    assert errand.skill is SKILL
    assert [(each.name, each.source) for each in errand.files] == [
        (name, str((tmp_path / name).resolve())) for name in PLAIN.files
    ]
    assert errand.files[0].digest == hashlib.sha256(b"1,2").hexdigest()
    assert [each.name for each in errand.images] == ["photo.png"]
    said = msgspec.json.encode(errand).decode()
    assert "Numbers." in errand.instruction
    assert "Add them up." in errand.instruction
    assert not [word for word in ("4711", "hush-hush", "secret-id") if word in said]
    assert "Carry the one." not in errand.instruction


def test_of_a_conversation_each_turn_stands_under_who_said_it(tmp_path: Path) -> None:
    turns = (Message("user", "Hello?"), Message("assistant", "Yes?"), Message("user", "Add 1 and 1."))
    task = Task(id="t", input=turns, reference="2")
    instruction = environment(tmp_path, task).errand(task, SKILL).instruction
    order = ["## They said\n\nHello?", "## You said\n\nYes?", "## They said\n\nAdd 1 and 1."]
    places = [instruction.index(part) for part in order]
    assert places == sorted(places)


def test_each_tool_that_must_be_called_is_there_once() -> None:
    checks = (Check("tool_called", "b"), Check("contains", "x"), Check("tool_called", "a"), Check("tool_called", "b"))
    assert tools_of(Task(id="t", input="?", checks=checks)) == ("b", "a")
    assert tools_of(PLAIN) == ()


@pytest.mark.parametrize(
    ("transcript", "reply", "hard"),
    [
        (did("search"), "42", 1.0),
        (did(shims=("search",)), "42", 1.0),
        (did(), "I called search: <tool>search</tool>", 0.0),
        (did("research"), "42", 0.0),
    ],
)
def test_a_tool_counts_as_called_when_the_log_has_it_whatever_the_words_say(
    tmp_path: Path, transcript: Transcript, reply: str, hard: float
) -> None:
    found = environment(tmp_path, CALLS).grade_work(CALLS, reply, transcript)
    assert isinstance(found, Score)
    assert found.hard == hard


def test_what_is_left_to_a_program_carries_the_files_that_were_left(tmp_path: Path) -> None:
    files = (LeftFile(path="out.txt", size=1, text="a"), LeftFile(path="gone", size=0, deleted=True))
    graded = environment(tmp_path, PLAIN, grader="command", command=msgspec.to_builtins(CommandSettings(run=("sh",))))
    found = graded.grade_work(PLAIN, "42", did(files=files))
    assert isinstance(found, Unassessed)
    assert (found.answer, found.files) == ("42", files)
    assert environment(tmp_path, PLAIN).grade_work(PLAIN, "4711", did(files=files)) == Score(hard=1.0, soft=1.0)


def test_an_answer_without_what_was_done_is_graded_and_put_as_by_the_dataset(tmp_path: Path) -> None:
    sent = environment(tmp_path, PLAIN)
    plain = Dataset(DatasetSettings(path="tasks"), TaskSet(train=(PLAIN,), val=(), test=()))
    assert sent.grade(PLAIN, "4711") == plain.grade(PLAIN, "4711")
    assert sent.messages(PLAIN, "Be brief.") == plain.messages(PLAIN, "Be brief.")
    assert sent.tasks == plain.tasks


def test_a_file_or_a_folder_with_other_content_is_another_environment(tmp_path: Path) -> None:
    (tmp_path / "docs" / "deep").mkdir(parents=True)
    (tmp_path / "docs" / "deep" / "page").write_text("one")
    dataset = Dataset(DatasetSettings(path="tasks"), TaskSet(train=(), val=(), test=()))

    def version(**data: str) -> str:
        return AgentDataset.of(dataset, tmp_path, {name: tmp_path / place for name, place in data.items()}).version

    before = version(manual="docs")
    assert before == version(manual="docs")
    assert len({before, version(), version(other="docs"), dataset.version}) == 4
    (tmp_path / "docs" / "deep" / "page").write_text("two")
    assert version(manual="docs") != before
    contents = environment(tmp_path, PLAIN).contents
    assert contents == {
        "in.csv": hashlib.sha256(b"1,2").hexdigest(),
        "deep/a.txt": hashlib.sha256(b"a").hexdigest(),
    }
    assert json.dumps(contents)


@pytest.mark.parametrize("name", ["gone.txt", "deep"])
def test_what_a_task_names_must_be_a_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=f"'secret-id' names '{name}', which is no file"):
        environment(tmp_path, msgspec.structs.replace(PLAIN, files=(name,)))
