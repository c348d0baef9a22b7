from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from skillopt.domain.chat import Image, Message
from skillopt.domain.errors import UsageError
from skillopt.domain.tasks import Task
from skillopt.environments.files.home import Home
from skillopt.environments.files.images import MOST_BYTES, media_type, read_images, shown_with

PNG = b"\x89PNG\r\n\x1a\n"


def task(name: str, *images: str) -> Task:
    return Task(id=name, input="What is it?", images=images, reference="a cat")


def read(folder: Path, *tasks: Task, allowed: tuple[Path, ...] = ()) -> dict[str, Image]:
    return dict(read_images(tasks, Home(folder.resolve(), allowed)))


def refusal(folder: Path, *tasks: Task) -> str:
    with pytest.raises(UsageError) as refused:
        read(folder, *tasks)
    return str(refused.value)


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (PNG + b"more", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x01\x02\x03\x04WEBP", "image/webp"),
        (b"RIFF\x01\x02\x03\x04WAVE", None),
        (b"<svg", None),
        (b"II*\x00", None),
        (b"", None),
    ],
)
def test_an_image_is_told_by_how_it_begins(tmp_path: Path, head: bytes, kind: str | None) -> None:
    assert media_type(head) == kind
    (tmp_path / "a.txt").write_bytes(head)
    if kind is None:
        assert "Task 'one': image 'a.txt' is no PNG, JPEG, GIF or WebP" in refusal(tmp_path, task("one", "a.txt"))
    else:
        assert read(tmp_path, task("one", "a.txt"))["a.txt"].media_type == kind


def test_images_are_known_by_their_bytes_and_each_is_read_once(tmp_path: Path) -> None:
    for name in ("a.png", "same.png"):
        (tmp_path / name).write_bytes(PNG)
    (tmp_path / "b.png").write_bytes(PNG + b"b")
    found = read(tmp_path, task("one", "a.png", "b.png"), task("two", "a.png", "same.png"), task("three"))
    assert set(found) == {"a.png", "b.png", "same.png"}
    assert found["a.png"] == found["same.png"] != found["b.png"]
    assert found["a.png"].digest == hashlib.sha256(PNG).hexdigest()
    assert found["b.png"].data == PNG + b"b"


def test_every_bad_image_is_named_with_its_task(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path.parent / "secret.png").write_bytes(PNG)
    (tmp_path / "link.png").symlink_to(tmp_path.parent / "secret.png")
    with (tmp_path / "large.png").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    said = refusal(
        tmp_path,
        task("one", "gone.png"),
        task("two", "folder", "link.png"),
        task("three", "large.png", "../secret.png"),
    )
    assert "Task 'one': file 'gone.png' does not exist in the task folder." in said
    assert "Task 'two': image 'folder' is no file." in said
    assert "Task 'two': file 'link.png' lies outside the task folder" in said
    assert "Task 'three': image 'large.png' is larger than 20 MiB." in said
    assert "Task 'three': file '../secret.png' lies outside the task folder" in said


def test_of_many_bad_images_ten_are_named(tmp_path: Path) -> None:
    said = refusal(tmp_path, *(task(f"t{number}", "gone.png") for number in range(13)))
    assert said.count("gone.png") == 10
    assert "… and 3 more." in said


def test_an_allowed_folder_may_hold_images(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "tasks").mkdir()
    (tmp_path / "shared" / "a.png").write_bytes(PNG)
    name = "../shared/a.png"
    assert read(tmp_path / "tasks", task("one", name), allowed=((tmp_path / "shared").resolve(),))[name].data == PNG


def test_another_image_under_the_same_name_is_never_sent(tmp_path: Path) -> None:
    place = tmp_path / "a.png"
    place.write_bytes(PNG)
    image = read(tmp_path, task("one", "a.png"))["a.png"]
    place.write_bytes(PNG + b"!")
    with pytest.raises(UsageError, match=r"Image 'a\.png' has changed since this run read its tasks"):
        assert image.data
    place.unlink()
    with pytest.raises(UsageError, match=r"Image 'a\.png' can no longer be read"):
        assert image.data


def test_images_stand_with_the_first_thing_the_user_says() -> None:
    image = Image(media_type="image/png", digest="d", fetch=lambda: PNG)
    talk = (Message("system", "s"), Message("user", "one"), Message("assistant", "two"), Message("user", "three"))
    shown = shown_with(talk, [image, image])
    assert shown == (talk[0], Message("user", "one", (image, image)), *talk[2:])
    assert shown_with(talk, []) is talk
