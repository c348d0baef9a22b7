"""What types of settings say about themselves."""

from __future__ import annotations

import enum
import json
from typing import Annotated, Literal

import msgspec
import pytest
from msgspec import inspect

from skillopt.app.settings.schema import broken_bounds, choices, describe, fits_shape, json_schema, leaves


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Inner(msgspec.Struct, frozen=True, kw_only=True, tag="inner", tag_field="kind"):
    sizes: tuple[int, ...] = (1, 2)
    colour: Colour = Colour.RED


class Outer(msgspec.Struct, frozen=True, kw_only=True, rename={"from_": "from"}):
    from_: str = "here"
    inner: Inner = Inner()
    prices: dict[str, Inner] = {}
    extra: dict[str, object] = {}


def test_leaves_are_single_settings_by_their_written_names() -> None:
    outer = Outer(prices={"gpt-4.1": Inner(colour=Colour.BLUE)})
    assert list(leaves(outer)) == [
        (("from",), "here"),
        (("inner", "kind"), "inner"),
        (("inner", "sizes"), (1, 2)),
        (("inner", "colour"), "red"),
        (("prices", "gpt-4.1", "kind"), "inner"),
        (("prices", "gpt-4.1", "sizes"), (1, 2)),
        (("prices", "gpt-4.1", "colour"), "blue"),
        (("extra",), {}),
    ]
    assert (("prices",), {}) in list(leaves(Outer()))


def test_the_schema_refuses_unknown_keys_and_knows_the_keys_of_files() -> None:
    schema = json.loads(json_schema(Outer, also=("extends",)))
    outer, inner = schema["$defs"]["Outer"], schema["$defs"]["Inner"]
    assert outer["additionalProperties"] is False
    assert inner["additionalProperties"] is False
    assert set(outer["properties"]) == {"from", "inner", "prices", "extra", "extends"}
    assert "extends" not in inner["properties"]
    assert schema["$ref"] == "#/$defs/Outer"


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (bool, "true or false"),
        (int, "a whole number"),
        (float, "a number"),
        (str, "text"),
        (int | None, "a whole number or null"),
        (Literal["b", "a"], "one of a, b"),
        (Colour, "one of blue, red"),
        (tuple[int, ...], "a list (a whole number each)"),
        (tuple[int, int], "a list of 2"),
        (dict[str, int], "a section"),
        (Inner, "a section"),
        (Annotated[str, msgspec.Meta(description="words")], "text"),
    ],
)
def test_how_types_are_described(kind: object, said: str) -> None:
    assert describe(inspect.type_info(kind)) == said


@pytest.mark.parametrize(
    ("meta", "value", "broken"),
    [
        (msgspec.Meta(ge=1), 1, ()),
        (msgspec.Meta(ge=1), 0, ("of at least 1",)),
        (msgspec.Meta(gt=1), 1, ("above 1",)),
        (msgspec.Meta(lt=1), 1, ("below 1",)),
        (msgspec.Meta(le=1), 2, ("of at most 1",)),
        (msgspec.Meta(multiple_of=2), 3, ("divisible by 2",)),
        (msgspec.Meta(ge=5, multiple_of=2), 3, ("of at least 5", "divisible by 2")),
    ],
)
def test_bounds_of_numbers(meta: msgspec.Meta, value: int, broken: tuple[str, ...]) -> None:
    assert broken_bounds(inspect.type_info(Annotated[int, meta]), value) == broken


@pytest.mark.parametrize(
    ("meta", "value", "broken"),
    [
        (msgspec.Meta(min_length=2), "a", ("of length 2 or more",)),
        (msgspec.Meta(max_length=2), "abc", ("of length 2 or less",)),
        (msgspec.Meta(pattern="^a"), "b", ("that matches ^a",)),
        (msgspec.Meta(pattern="^a"), "ab", ()),
    ],
)
def test_bounds_of_text(meta: msgspec.Meta, value: str, broken: tuple[str, ...]) -> None:
    assert broken_bounds(inspect.type_info(Annotated[str, meta]), value) == broken


def test_choices_and_shapes() -> None:
    assert choices(inspect.type_info(Colour)) == ("red", "blue")
    assert set(choices(inspect.type_info(Literal["a", 1]))) == {"a", 1}
    assert choices(inspect.type_info(str)) == ()
    assert fits_shape(inspect.type_info(Inner), {})
    assert not fits_shape(inspect.type_info(Inner), "inner")
    assert fits_shape(inspect.type_info(tuple[int, ...]), ())
    assert not fits_shape(inspect.type_info(int), ())
    assert fits_shape(inspect.type_info(int), "3")


class Borrowed(msgspec.Struct, frozen=True, kw_only=True, tag="use", tag_field="kind"):
    use: Literal["one", "other"] = "one"


class Borrowing(msgspec.Struct, frozen=True, kw_only=True):
    source: Borrowed | Inner = Borrowed()


def test_an_editor_asks_for_no_tag_where_a_key_says_as_much() -> None:
    shapes = json.loads(json_schema(Borrowing))["$defs"]
    assert shapes["Borrowed"]["required"] == []
    assert shapes["Inner"]["required"] == ["kind"]
