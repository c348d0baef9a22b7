"""YAML as 1.2 means it, and its dangers refused."""

from __future__ import annotations

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt.app.settings.layers import Node, Origin
from skillopt.app.settings.yaml_reader import Written, read_yaml
from skillopt.domain.errors import UsageError


def place(line: int | None) -> Origin:
    return Origin(layer="file", where="f.yaml" if line is None else f"f.yaml:{line}")


def read(text: str) -> Written:
    return read_yaml(text, place)


def plain(node: Node) -> object:
    if isinstance(node.value, dict):
        return {key: plain(child) for key, child in node.value.items()}
    return [plain(child) for child in node.value] if isinstance(node.value, tuple) else node.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("False", False),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("Off", "Off"),
        ("y", "y"),
        ("tRue", "tRue"),
        ("null", None),
        ("~", None),
        ("", None),
        ("''", ""),
        ("'true'", "true"),
        ('"12"', "12"),
        ("12", 12),
        ("-3", -3),
        ("010", 10),
        ("0o17", 15),
        ("0x1F", 31),
        ("0b11", "0b11"),
        ("1_000", "1_000"),
        ("12:30:45", "12:30:45"),
        ("190:20:30.15", "190:20:30.15"),
        ("1e3", 1000.0),
        ("1.", 1.0),
        (".5", 0.5),
        ("-1.5E-2", -0.015),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("2024-01-02", "2024-01-02"),
        ("=", "="),
        ("1.2.3", "1.2.3"),
        ("http://127.0.0.1:9000/v1", "http://127.0.0.1:9000/v1"),
        ("${NAME}", "${NAME}"),
        ("123456789012345678", 123456789012345678),
        ("1234567890123456789012", 1234567890123456789012.0),
    ],
)
def test_scalars(text: str, value: object) -> None:
    found = plain(read(text).node)
    assert found == value
    assert type(found) is type(value)


def test_not_a_number_is_a_float() -> None:
    assert math.isnan(float(str(plain(read(".NaN").node))))


def test_keys_are_text_as_they_are_written() -> None:
    assert plain(read("1: a\nyes: b\nnull: c\n0x1: d\n<<: {e: 1}\n").node) == {
        "1": "a",
        "yes": "b",
        "null": "c",
        "0x1": "d",
        "<<": {"e": 1},
    }


def test_a_value_is_placed_at_its_key_and_an_item_at_its_own_line() -> None:
    node = read("a:\n  b: 1\n\nc:\n  - 1\n  - 2\n").node
    assert isinstance(node.value, dict)
    a, c = node.value["a"], node.value["c"]
    assert isinstance(a.value, dict)
    assert isinstance(c.value, tuple)
    assert [str(one.origin) for one in (a, a.value["b"], c, c.value[1])] == [
        "f.yaml:1",
        "f.yaml:2",
        "f.yaml:4",
        "f.yaml:6",
    ]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("a: &x 1\n", 1, "anchors and aliases"),
        ("a: 1\nb: *x\n", 2, "anchors and aliases"),
        ("a: &x [*x]\n", 1, "anchors and aliases"),
        ("a: !!python/object:os.system x\n", 1, "tags are not allowed"),
        ("a: !!str 1\n", 1, "tags are not allowed"),
        ("a: ! b\n", 1, "tags are not allowed"),
        ("a: !foo!bar b\n", 1, "undefined tag"),
        ("a: " + "[" * 30 + "]" * 30, 1, "20 deep"),
        ("a: [1, 2\n", 2, "expected"),
        ("a: 1\n b: 2\n", 2, "mapping values"),
        ("a: b: c\n", 1, "mapping values"),
        ("a: @b\n", 1, "cannot start"),
        ("a: 1\n---\nb: 2\n", 2, "expected a single document|another document"),
    ],
)
def test_what_cannot_be_read_names_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(UsageError, match=rf"f\.yaml:{line}: .*({said})"):
        read(text)


@pytest.mark.parametrize("text", ['a: "\\U00110000"', "a: \x00", "a: \x1b", "a: \ud800"])
def test_characters_that_yaml_does_not_allow(text: str) -> None:
    with pytest.raises(UsageError, match="character"):
        read(text)


@pytest.mark.parametrize(
    "text",
    [
        "api_key: *sk-proj-abcdefgh",
        "api_key: &sk-proj-abcdefgh x",
        "api_key: !sk-proj-abcdefgh x",
        "api_key: !sk-proj-abcdefgh!x y",
        "api_key: [sk-proj-abcdefgh",
        "api_key: 'sk-proj-abcdefgh",
        "api_key: @sk-proj-abcdefgh",
        "api_key: %sk-proj-abcdefgh",
        "api_key: sk: proj-abcdefgh",
    ],
)
def test_a_secret_in_a_text_that_cannot_be_read_is_not_repeated(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(text)
    assert "abcdefgh" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_reference_in_braces_is_told_to_be_quoted() -> None:
    with pytest.raises(UsageError, match=r'needs quotes: "\$\{NAME\}"'):
        read("target: {api_key: ${NAME}}")
    assert plain(read('target: {api_key: "${NAME}"}').node) == {"target": {"api_key": "${NAME}"}}


def test_all_keys_given_twice_are_reported_with_both_lines() -> None:
    written = read("a: 1\nb: {c: 1, c: 2}\na: 2\n")
    assert [str(problem) for problem in written.problems] == [
        "f.yaml:2: b.c: given twice; the first is at f.yaml:2",
        "f.yaml:3: a: given twice; the first is at f.yaml:1",
    ]


def test_a_key_that_is_no_text_is_reported() -> None:
    assert "a key is a section or a list" in str(read("? [a]\n: 1\n").problems[0])


@pytest.mark.parametrize(
    ("text", "value"), [("3", 3), ("[a, 1]", ["a", 1]), ("{a: {b: 1}}", {"a": {"b": 1}}), ("", None)]
)
def test_a_value_of_a_flag_is_a_scalar_or_in_brackets(text: str, value: object) -> None:
    assert plain(read_yaml(text, place, one_line=True).node) == value


@pytest.mark.parametrize("text", ["a: b", "- a", "a:\n  b: 1"])
def test_a_value_of_a_flag_in_block_style_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not a single YAML value"):
        read_yaml(text, place, one_line=True)


@given(st.text(alphabet=st.sampled_from("ab:-[]{}&*!|>'\"%@`#,?\n \t\\x0U1~=<\x00\x85\ufeff\ud800"), max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(UsageError):
        read(text)
