from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import pytest

from skillopt.agents.finding import Driver, Program, find_driver, find_program
from skillopt.agents.program import Sdk
from skillopt.domain.errors import CrashedError, NotInstalledError, UsageError
from tests.unit.agents.programs import ScriptedAdapter
from tests.unit.agents.sdks import python_with

Mode = Literal["cli", "sdk", "auto"]
SAYS = "#!/bin/sh\necho 'scripted program 1.2.3-beta.4 (build 7)'\n"


def executable(path: Path, content: str = SAYS) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    path.chmod(0o755)
    return path


def found(root: Path, environ: Mapping[str, str], path: str | None = None) -> Program:
    return asyncio.run(find_program(ScriptedAdapter(), path=path, root=root, environ=environ))


def test_a_program_is_found_on_the_path_of_the_person_with_its_version(tmp_path: Path) -> None:
    here = executable(tmp_path / "bin" / "scripted-program")
    program = found(tmp_path, {"PATH": f"{tmp_path / 'none'}:{here.parent}"})
    assert (program.path, program.version, program.wrapper) == (here, "1.2.3-beta.4", True)
    assert program.search.split(":")[0] == str(here.parent)
    assert here.parent in program.readable


@pytest.mark.parametrize("path", ["tools/mine", "./tools/mine", "{}/tools/mine"])
def test_a_path_starts_from_the_folder_of_the_config_and_wins(tmp_path: Path, path: str) -> None:
    mine = executable(tmp_path / "tools" / "mine", SAYS.replace("1.2.3", "9.9.9"))
    other = executable(tmp_path / "bin" / "scripted-program")
    program = found(tmp_path, {"PATH": str(other.parent)}, path.format(tmp_path))
    assert (program.path, program.version) == (mine, "9.9.9-beta.4")


def test_a_program_that_is_not_there_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(NotInstalledError, match=r"'scripted-program' of backend scripted_program.*write it"):
        found(tmp_path, {"PATH": str(tmp_path)})
    (tmp_path / "plain").write_text("no program")
    for path in ("missing", "plain", "."):
        with pytest.raises(NotInstalledError, match=r"no program at .*agent\.path"):
            found(tmp_path, {}, path)


@pytest.mark.parametrize("body", ["echo version two", "exit 0", "echo 1.2.3; exit 4"])
def test_a_program_that_does_not_tell_its_version_is_no_agent(tmp_path: Path, body: str) -> None:
    executable(tmp_path / "mine", f"#!/bin/sh\n{body}\n")
    with pytest.raises(CrashedError, match=r"does not tell its version.*--version"):
        found(tmp_path, {}, "mine")


def test_it_is_asked_in_a_home_that_is_not_the_persons_and_with_none_of_their_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "sk-secret")
    told = tmp_path / "told"
    executable(tmp_path / "mine", f"#!/bin/sh\nenv > {told}\npwd >> {told}\necho 1.2\n")
    found(tmp_path, {"HOME": str(tmp_path / "me"), "SECRET_KEY": "sk-secret", "PATH": "/usr/bin:/bin"}, "mine")
    assert "sk-secret" not in told.read_text()
    assert str(tmp_path / "me") not in told.read_text()


def test_of_a_package_all_modules_can_be_read_and_of_a_script_its_interpreter(tmp_path: Path) -> None:
    modules = tmp_path / "lib" / "node_modules"
    real = executable(modules / "maker" / "program" / "bin" / "start.js")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "scripted-program").symlink_to(real)
    node = executable(tmp_path / "node" / "bin" / "node")
    program = found(tmp_path, {"PATH": f"{tmp_path / 'bin'}:{node.parent}"})
    assert program.path == tmp_path / "bin" / "scripted-program"
    assert set(program.readable) == {tmp_path / "bin", modules, node.parent, tmp_path / "node"}
    assert str(node.parent) in program.search.split(":")
    assert not program.wrapper, "a package's own script has the package's version"


def test_a_binary_is_no_wrapper_and_what_belongs_to_the_system_needs_no_word(tmp_path: Path) -> None:
    (tmp_path / "scripted-program").symlink_to(Path(sys.executable).resolve())
    program = found(tmp_path, {"PATH": str(tmp_path)})
    assert not program.wrapper
    assert program.version == ".".join(map(str, sys.version_info[:3]))
    assert not [part for part in program.readable if part.is_relative_to("/usr")]


DRIVES = """import json, sys
import maker_sdk as sdk
found = {"version": sdk.__version__, "prefixes": [sys.prefix, sys.base_prefix], "packages": sdk.__file__}
sys.stdout.write(json.dumps(found))
"""


def sought(root: Path, python: Path, mode: Mode = "sdk", *, has_one: bool = True) -> Driver | None:
    file = root / "driver.py"
    file.write_text(DRIVES)
    (root / "maker_sdk.py").write_text("raise SystemExit('a neighbour of the driver is not the SDK')")
    sdk = Sdk(driver=file, module="maker_sdk", extra="maker") if has_one else None
    program = Program(path=root / "bin" / "scripted-program", version="1", readable=(root / "bin",), search="/usr/bin")
    return asyncio.run(find_driver(ScriptedAdapter(sdk=sdk), program, mode=mode, python=python))


@pytest.mark.parametrize("mode", ["sdk", "auto"])
def test_an_sdk_is_found_with_its_version_and_all_that_it_is_read_from(tmp_path: Path, mode: Mode) -> None:
    python = python_with(tmp_path / "env", {"maker_sdk.py": "__version__ = '7.8.9'\n"})
    driver = sought(tmp_path, python, mode)
    assert driver is not None
    assert (driver.python.path, driver.python.version) == (python, "7.8.9")
    assert driver.words == ("-I", str(tmp_path / "driver.py"))
    env = tmp_path / "env"
    seen = driver.python.readable
    assert {env / "bin", env / "lib", env / "pyvenv.cfg", tmp_path / "bin", tmp_path / "driver.py"} <= set(seen)
    project = env / "tasks" / "train.jsonl"  # an environment may have been made in the folder of a project
    assert not [part for part in seen if project.is_relative_to(part)]
    assert not [part for part in driver.python.readable if part.is_relative_to("/usr")]


@pytest.mark.parametrize(("mode", "has_one"), [("cli", True), ("cli", False), ("auto", False)])
def test_where_no_sdk_is_to_be_used_none_is_looked_for(tmp_path: Path, mode: Mode, has_one: bool) -> None:
    assert sought(tmp_path, tmp_path / "no-python", mode, has_one=has_one) is None


def test_an_sdk_that_is_not_installed_is_an_error_with_the_line_that_installs_it_or_is_done_without(
    tmp_path: Path,
) -> None:
    python = python_with(tmp_path / "env")
    assert sought(tmp_path, python, "auto") is None
    with pytest.raises(UsageError, match=r"maker_sdk is not installed.*pip install 'skillopt\[maker\]'") as caught:
        sought(tmp_path, python)
    assert str(python) in str(caught.value)


@pytest.mark.parametrize("mode", ["sdk", "auto"])
def test_an_sdk_that_is_broken_is_never_passed_over(tmp_path: Path, mode: Mode) -> None:
    python = python_with(tmp_path / "env", {"maker_sdk.py": "import a_part_that_is_not_there\n"})
    with pytest.raises(CrashedError, match=r"No module named 'a_part_that_is_not_there'.*skillopt\[maker\]"):
        sought(tmp_path, python, mode)


def test_a_program_without_an_sdk_cannot_be_driven_by_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no SDK that can drive scripted_program.*agent\.mode"):
        sought(tmp_path, tmp_path / "no-python", has_one=False)
