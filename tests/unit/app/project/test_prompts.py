from __future__ import annotations

from pathlib import Path

import pytest

from skillopt.app.project.prompts import read_prompts
from skillopt.domain.errors import UsageError
from skillopt.phases.prompting import Prompts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "prompts"
    made.mkdir()
    return made


def test_no_folder_means_the_shipped_prompts(tmp_path: Path) -> None:
    assert read_prompts(tmp_path, None) == Prompts()


def test_each_file_takes_the_place_of_the_prompt_of_its_name(folder: Path) -> None:
    (folder / "rank.md").write_bytes(b"Task: rank\r\nTake {{edit_budget}}.\r\n")
    (folder / ".hidden").write_text("x")
    prompts = read_prompts(folder.parent, "prompts", lambda text: text.replace("Take", "Keep"))
    assert prompts.replaced == {"rank": "Task: rank\nKeep {{edit_budget}}."}


@pytest.mark.parametrize(
    ("name", "said"),
    [("analyst.md", "analyst"), ("rank.txt", "rank.txt"), ("README", "README"), ("rank.MD", "rank.MD")],
)
def test_a_file_that_is_no_prompt_is_an_error(folder: Path, name: str, said: str) -> None:
    (folder / name).write_text("Task: rank")
    with pytest.raises(UsageError, match=said):
        read_prompts(folder.parent, "prompts")


def test_a_placeholder_nobody_fills_is_an_error_before_anything_is_spent(folder: Path) -> None:
    (folder / "budget.md").write_text("Task: budget\n{{edit_budget}}")
    with pytest.raises(UsageError, match=r"budget\.md"):
        read_prompts(folder.parent, "prompts")


def test_the_folder_lies_inside_that_of_the_configuration(folder: Path, tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    for path in ("../prompts", str(folder)):
        with pytest.raises(UsageError, match="outside"):
            read_prompts(root, path)
    (root / "link").symlink_to(folder, target_is_directory=True)
    with pytest.raises(UsageError, match="outside"):
        read_prompts(root, "link")
    with pytest.raises(UsageError, match="no folder"):
        read_prompts(root, "nowhere")


def test_links_and_what_is_not_text_are_refused(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "secret.md"
    outside.write_text("Task: rank")
    (folder / "rank.md").symlink_to(outside)
    with pytest.raises(UsageError, match=r"rank\.md"):
        read_prompts(folder.parent, "prompts")
    (folder / "rank.md").unlink()
    (folder / "rank.md").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="UTF-8"):
        read_prompts(folder.parent, "prompts")
