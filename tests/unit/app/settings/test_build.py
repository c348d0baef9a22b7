"""Typed settings out of trees: what each kind of field accepts, and what is said when it does not."""

from __future__ import annotations

import enum
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
import pytest

from skillopt.app.settings.build import build
from skillopt.app.settings.layers import Origin, wrapped
from skillopt.domain.errors import InternalError, UsageError

HERE = Origin(layer="file", where="f.yaml")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Dataset(msgspec.Struct, frozen=True, kw_only=True, tag="dataset", tag_field="kind"):
    path: str


class Command(msgspec.Struct, frozen=True, kw_only=True, tag="command", tag_field="kind"):
    run: str
    timeout: float = 60.0


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    low: int = 0
    high: int = 10

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError("low is above high")
        if self.high > 99:
            raise UsageError("high is above 99.", hint="Take less.")


class Every(msgspec.Struct, frozen=True, kw_only=True):
    flag: bool = False
    count: Annotated[int, msgspec.Meta(ge=1, description="how many")] = 1
    share: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.5
    text: str = ""
    rule: Literal["paired", "strict", "force"] = "paired"
    colour: Colour = Colour.RED
    cap: int | None = None
    slots: Annotated[int, msgspec.Meta(ge=1)] | Literal["auto"] = "auto"
    number: int | float = 0
    mode: Literal["a", "b"] | None = None
    sizes: tuple[int, ...] = ()
    ratio: tuple[int, int, int] = (2, 1, 7)
    names: list[str] = []
    roles: dict[Literal["target", "optimizer"], Checked] = {}
    free: dict[str, Any] = {}
    thing: dict[str, object] = {}
    checked: Checked = Checked()
    maybe: Checked | None = None
    where: Dataset | Command = Dataset(path="tasks/")
    one: Dataset = Dataset(path="tasks/")
    api_key: str = "none"
    token: Literal["none"] = "none"


def problems(raw: object) -> list[str]:
    value, found = build(Every, wrapped(raw, HERE))
    assert (value is None) == bool(found)
    return [str(problem).removeprefix("f.yaml: ") for problem in found]


@pytest.mark.parametrize(
    ("raw", "field", "value"),
    [
        ({"flag": True}, "flag", True),
        ({"count": 3}, "count", 3),
        ({"share": 1}, "share", 1.0),
        ({"rule": "strict"}, "rule", "strict"),
        ({"colour": "blue"}, "colour", Colour.BLUE),
        ({"cap": None}, "cap", None),
        ({"cap": 3}, "cap", 3),
        ({"slots": 3}, "slots", 3),
        ({"slots": "auto"}, "slots", "auto"),
        ({"number": 3}, "number", 3),
        ({"number": 0.5}, "number", 0.5),
        ({"mode": "b"}, "mode", "b"),
        ({"sizes": [1, 2]}, "sizes", (1, 2)),
        ({"ratio": [1, 1, 1]}, "ratio", (1, 1, 1)),
        ({"names": ["a"]}, "names", ["a"]),
        ({"roles": {"target": {"high": 3}}}, "roles", {"target": Checked(high=3)}),
        ({"free": {"a": [1, {"b": None}], "c": 0.5}}, "free", {"a": (1, {"b": None}), "c": 0.5}),
        ({"thing": {"a": {"b": [True]}}}, "thing", {"a": {"b": (True,)}}),
        ({"maybe": {}}, "maybe", Checked()),
        ({"where": {"kind": "command", "run": "x", "timeout": 3}}, "where", Command(run="x", timeout=3.0)),
        ({"one": {"kind": "dataset", "path": "x"}}, "one", Dataset(path="x")),
    ],
)
def test_what_is_accepted(raw: object, field: str, value: object) -> None:
    built, found = build(Every, wrapped(raw, HERE))
    assert found == ()
    assert getattr(built, field) == value
    assert type(getattr(built, field)) is type(value)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({"flag": "yes"}, "flag: expected true or false, got text 'yes'"),
        ({"flag": 1}, "flag: expected true or false, got the number 1"),
        ({"count": True}, "count: expected a whole number, got true"),
        ({"count": 1.0}, "count: expected a whole number, got the number 1.0"),
        ({"count": "3"}, "count: expected a whole number, got text '3'"),
        ({"count": 0}, "count: expected a whole number of at least 1, got the number 0"),
        ({"count": None}, "count: expected a whole number, got nothing (null)"),
        ({"count": 2**63}, "count: the number does not fit in 64 bits"),
        ({"share": 1.5}, "share: expected a number of at most 1, got the number 1.5"),
        ({"share": float("nan")}, "share: expected a finite number"),
        ({"share": float("inf")}, "share: expected a finite number"),
        ({"share": 10**400}, "share: the number does not fit in 64 bits"),
        ({"text": 4.1}, "text: expected text, got the number 4.1; put it in quotes"),
        ({"text": True}, "text: expected text, got true; put it in quotes"),
        ({"text": ["a"]}, "text: expected text, got a list"),
        ({"text": "a\x00b"}, "text: the text holds a NUL or half of a character"),
        ({"text": "\ud800"}, "text: the text holds a NUL or half of a character"),
        ({"rule": "pared"}, "rule: Unknown value 'pared'. Did you mean 'paired'? Valid: force, paired, strict."),
        ({"rule": 3}, "rule: expected one of force, paired, strict; got the number 3"),
        ({"rule": "S" * 50}, "rule: Unknown value of 50 characters. Valid: force, paired, strict."),
        ({"colour": "Red"}, "colour: Unknown value 'Red'. Did you mean 'red'? Valid: blue, red."),
        ({"mode": "c"}, "mode: Unknown value 'c'. Valid: a, b."),
        ({"cap": "3"}, "cap: expected a whole number, got text '3'"),
        ({"slots": "atuo"}, "slots: Unknown value 'atuo'. Did you mean 'auto'? Valid: a whole number, auto."),
        ({"slots": 0}, "slots: expected a whole number or one of auto, got the number 0"),
        ({"sizes": 3}, "sizes: expected a list (a whole number each), got the number 3"),
        ({"sizes": [1, "2"]}, "sizes[1]: expected a whole number, got text '2'"),
        ({"ratio": [1, 1]}, "ratio: expected a list of 3, got a list of 2"),
        ({"roles": {"tagret": {}}}, "roles: Unknown key 'tagret'. Did you mean 'target'? Valid: optimizer, target."),
        (
            {"roles": {"target": {"hihg": 1}}},
            "roles.target: Unknown key 'hihg'. Did you mean 'high'? Valid: high, low.",
        ),
        ({"roles": []}, "roles: expected a section, got a list"),
        ({"free": {"a": [float("inf")]}}, "free.a[0]: expected a finite number"),
        ({"free": {"a\ud800": 1}}, "free: the text holds a NUL or half of a character"),
        ({"checked": None}, "checked: expected a section, got nothing (null); write {} for all defaults"),
        ({"checked": {"low": 11}}, "checked: low is above high"),
        ({"checked": {"high": 100}}, "checked: high is above 99. Take less."),
        ({"maybe": 3}, "maybe: expected a section or null, got the number 3"),
        ({"where": {"path": "x"}}, "where.kind: missing; expected one of command, dataset"),
        (
            {"where": {"kind": "datset", "path": "x"}},
            "where.kind: Unknown value 'datset'. Did you mean 'dataset'? Valid: command, dataset.",
        ),
        ({"where": {"kind": 3}}, "where.kind: expected one of command, dataset; got the number 3"),
        (
            {"where": {"kind": "command", "run": "x", "path": "y"}},
            "where: Unknown key 'path'. Valid: kind, run, timeout.",
        ),
        ({"where": {"kind": "dataset"}}, "where.path: missing; expected text"),
        ({"where": "dataset"}, "where: expected a section, got text 'dataset'"),
        ({"one": {"path": "x"}}, "one.kind: missing; expected one of dataset"),
        ({"api_key": 12345}, "api_key: expected text, got a value that is not shown; put it in quotes"),
        ({"token": "sk-12345"}, "token: expected one of none; got a value that is not shown"),
    ],
)
def test_what_is_refused_and_how(raw: object, said: str) -> None:
    assert problems(raw) == [said]


def test_all_problems_are_found_at_once() -> None:
    raw = {"flag": "on", "checked": {"lo": 1, "high": "x"}, "where": {"kind": "command"}, "zzz": 1}
    assert [line.split(" ")[0] for line in problems(raw)] == [
        "flag:",
        "checked:",
        "checked.high:",
        "where.run:",
        "Unknown",
    ]


def test_extra_keys_of_files_are_named_at_the_top_only() -> None:
    _, found = build(Every, wrapped({"extend": "x", "checked": {"extends": 1}}, HERE), also=("extends",))
    assert "Did you mean 'extends'" in str(found[0])
    assert "Valid: high, low." in str(found[1])


def test_a_type_that_no_file_can_give_is_our_own_mistake() -> None:
    class Odd(msgspec.Struct, frozen=True, kw_only=True):
        when: datetime | None = None

    with pytest.raises(InternalError, match="DateTimeType"):
        build(Odd, wrapped({"when": "now"}, HERE))


class Borrowed(msgspec.Struct, frozen=True, kw_only=True, tag="use", tag_field="kind"):
    use: Literal["one", "other"] = "one"


class Borrowing(msgspec.Struct, frozen=True, kw_only=True):
    source: Borrowed | Dataset | Command = Borrowed()


@pytest.mark.parametrize("written", [{"use": "other"}, {"kind": "use", "use": "other"}])
def test_a_form_that_is_named_after_one_of_its_keys_is_known_by_it(written: dict[str, str]) -> None:
    made, problems = build(Borrowing, wrapped({"source": written}, HERE))
    assert problems == ()
    assert made == Borrowing(source=Borrowed(use="other"))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ({}, "expected one of command, dataset, use"),
        ({"path": "x"}, "expected one of command, dataset, use"),
        ({"use": "another"}, "Valid: one, other"),
        ({"kind": "dataset", "path": "x", "use": "one"}, "Unknown key 'use'"),
        ({"use": "one", "path": "x"}, "Unknown key 'path'"),
    ],
)
def test_no_other_form_is_guessed_from_its_keys(written: dict[str, str], said: str) -> None:
    made, problems = build(Borrowing, wrapped({"source": written}, HERE))
    assert made is None
    assert any(said in problem.text for problem in problems), problems
