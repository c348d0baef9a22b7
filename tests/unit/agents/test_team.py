from __future__ import annotations

import asyncio
import json
from pathlib import Path

import msgspec
import pytest

from skillopt.agents.finding import Driver, Program
from skillopt.agents.grounds import Stay
from skillopt.agents.program import Command, Job
from skillopt.agents.settings import CliSettings
from skillopt.agents.team import Team
from skillopt.domain.usage import Price, Usage
from tests.unit.agents.programs import ScriptedSettings, script, team

ENVIRON = "print(json.dumps({'env': dict(os.environ), 'argv': sys.argv[1:], 'prompt': prompt, 'cwd': os.getcwd()}))"


def started(who: Team, folder: Path, command: Command, *, driven: str = "") -> bytes:
    for name in ("work", "home"):
        (folder / name).mkdir(exist_ok=True)
    stay = Stay(work=folder / "work", home=folder / "home", seconds=60.0)
    job = Job(prompt="", work=str(stay.work), home=str(stay.home), model=who.model, agent=None, driven=driven)
    ended = asyncio.run(who.start(command, stay, job))
    assert ended.finished.exit_code == 0, ended.finished.stderr
    assert ended.home == stay.home
    return ended.finished.stdout


def test_a_program_is_started_with_what_it_is_given_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    command = Command(args=("run", "a b"), env={"LANG": "de", "MORE": "1"}, stdin="grüß".encode())
    found = json.loads(started(team(tmp_path, ENVIRON), tmp_path, command))
    home = str(tmp_path / "home")
    assert (found["argv"], found["prompt"], found["cwd"]) == (["run", "a b"], "grüß", str(tmp_path / "work"))
    assert found["env"] | {"LC_CTYPE": ""} == {
        "HOME": home,
        "PATH": "/usr/bin:/bin",
        "LANG": "de",
        "TERM": "dumb",
        "MORE": "1",
        "TMPDIR": f"{home}/tmp",
        "XDG_CONFIG_HOME": f"{home}/.config",
        "XDG_CACHE_HOME": f"{home}/.cache",
        "XDG_DATA_HOME": f"{home}/.local/share",
        "XDG_STATE_HOME": f"{home}/.local/state",
        "LC_CTYPE": "",  # Python's own, where the machine has no such language
    }


def test_the_files_of_its_home_are_there_when_it_starts(tmp_path: Path) -> None:
    command = Command(args=(), home_files={".deep/er/config": "größer\n"})
    code = "print((pathlib.Path.home() / '.deep/er/config').read_bytes().decode('utf-8') == 'gr\\u00f6\\u00dfer\\n')"
    assert started(team(tmp_path, code), tmp_path, command) == b"True\n"


def test_the_model_is_told_with_the_key_of_this_moment_which_is_never_shown(tmp_path: Path) -> None:
    keys = iter(("one", "two"))
    settings = ScriptedSettings(model="m", base_url="http://127.0.0.1:1/v1", wire="chat")
    who = msgspec.structs.replace(team(tmp_path, "", settings=settings), key=lambda: next(keys))
    model = who.model
    assert (model.name, model.base_url, model.key, model.wire) == ("m", "http://127.0.0.1:1/v1", "one", "chat")
    assert who.model.key == "two"
    assert "one" not in repr(model)
    assert team(tmp_path, "").model.key is None


@pytest.mark.parametrize(
    ("settings", "address", "model"),
    [
        (ScriptedSettings(), "its own provider", "its own choice"),
        (ScriptedSettings(base_url="http://127.0.0.1:1", model="m"), "http://127.0.0.1:1", "m"),
        (ScriptedSettings(base_url="http://127.0.0.1:1", alias="mine"), "mine", "its own choice"),
    ],
)
def test_who_answers_is_the_program_in_its_version_and_the_model(
    tmp_path: Path, settings: CliSettings, address: str, model: str
) -> None:
    identity = team(tmp_path, "", settings=settings, version="9.8").identity("cold")
    assert identity.backend == "scripted_program 9.8"
    assert (identity.address, identity.model, identity.sampling) == (address, model, "cold")


def test_a_reservation_costs_as_if_every_token_were_written(tmp_path: Path) -> None:
    assert team(tmp_path, "").reserved(written=10) == Usage(calls=1, output_tokens=10)
    priced = team(tmp_path, "", settings=ScriptedSettings(price=Price(input=9.0, output=2.0)))
    assert priced.reserved(written=10, times=3) == Usage(calls=3, output_tokens=30, nano_usd=60_000)


@pytest.mark.parametrize(("cache_write", "nano"), [(None, 4_000), (0.5, 4_000), (2.5, 10_000)])
def test_what_is_read_is_reserved_at_the_dearer_price_of_reading_and_of_caching(
    tmp_path: Path, cache_write: float | None, nano: int
) -> None:
    price = Price(input=1.0, output=9.0, cache_write=cache_write)
    priced = team(tmp_path, "", settings=ScriptedSettings(price=price))
    assert priced.reserved(read=4, written=0) == Usage(calls=1, input_tokens=4, nano_usd=nano)


def test_a_driver_is_started_in_its_place_where_the_job_is_driven_and_is_part_of_who_answers(tmp_path: Path) -> None:
    plain = team(tmp_path, "print('the program')")
    python = script(tmp_path / "sdk", "print('the driver', sys.argv[1:], prompt)", "python")
    found = Program(path=python, version="0.2.184", readable=(), search="/usr/bin:/bin")
    who = msgspec.structs.replace(plain, driver=Driver(python=found, words=("-I", "driver.py")))
    assert (plain.driven, who.driven) == ("", str(plain.program.path))
    assert who.identity("").backend == "scripted_program 1.2.3 by sdk 0.2.184"
    command = Command(args=("more",), stdin=b"job")
    assert started(who, tmp_path, command) == b"the program\n"
    assert started(who, tmp_path, command, driven=who.driven) == b"the driver ['-I', 'driver.py', 'more'] job\n"
