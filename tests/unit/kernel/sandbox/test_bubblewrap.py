from __future__ import annotations

from pathlib import Path

from skillopt.kernel.sandbox.bubblewrap import INSIDE, settings, wrapped
from skillopt.kernel.sandbox.confinement import Confinement
from skillopt.kernel.sandbox.launcher import SETTINGS


def command(tmp_path: Path) -> tuple[str, ...]:
    bounds = Confinement(work=tmp_path, readable=(Path("/data"),), tmp_mb=2)
    return wrapped(Path("/usr/bin/bwrap"), ("/bin/true", "--bind"), bounds)


def test_nothing_is_shared_and_no_capability_is_left(tmp_path: Path) -> None:
    said = " ".join(command(tmp_path))
    for needed in (
        "--unshare-all --unshare-user --disable-userns --uid 65534 --gid 65534",
        "--cap-drop ALL",
        "--new-session",
        "--die-with-parent",
        "--clearenv",
    ):
        assert needed in said


def test_only_the_work_folder_can_be_written(tmp_path: Path) -> None:
    words = command(tmp_path)
    options = words[: words.index("--")]
    assert [options[at + 1 : at + 3] for at, word in enumerate(options) if word == "--bind"] == [
        (str(tmp_path), INSIDE)
    ]
    assert ("--ro-bind", "/data", "/data") in list(zip(options, options[1:], options[2:], strict=False))
    assert ("--size", str(2 << 20), "--tmpfs", "/tmp") in list(
        zip(options, options[1:], options[2:], options[3:], strict=False)
    )


def test_the_settings_of_the_kernel_are_hidden_even_from_a_root_outside(tmp_path: Path) -> None:
    words = command(tmp_path)
    masked = words.index("/proc/sys")
    assert words[masked - 1 : masked + 3] == ("--tmpfs", "/proc/sys", "--remount-ro", "/proc/sys")
    assert masked > words.index("--proc")


def test_the_program_comes_last_and_as_it_was_given(tmp_path: Path) -> None:
    assert command(tmp_path)[-3:] == ("--", "/bin/true", "--bind")


def test_the_environment_is_no_part_of_the_command(tmp_path: Path) -> None:
    told = settings({"KEY": "hush=1"}, Confinement(work=tmp_path))
    assert told == "--setenv\0KEY\0hush=1\0--setenv\0HOME\0/tmp\0--setenv\0TMPDIR\0/tmp\0"
    assert ("--args", SETTINGS) in list(zip(command(tmp_path), command(tmp_path)[1:], strict=False))
