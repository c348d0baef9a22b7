"""Trees of settings: merging, places, secrets and the wording of values."""

from __future__ import annotations

import pytest

from skillopt.app.environ import is_reference
from skillopt.app.settings.layers import (
    KeyPath,
    Node,
    Origin,
    Problem,
    dotted,
    literal_secrets,
    merge,
    names_secret,
    nested,
    origin_at,
    shown,
    wrapped,
)
from skillopt.domain.errors import UsageError

UNDER = Origin(layer="file", where="base.yaml")
OVER = Origin(layer="flag", where="--set x")


def plain(node: Node) -> object:
    if isinstance(node.value, dict):
        return {key: plain(child) for key, child in node.value.items()}
    return [plain(child) for child in node.value] if isinstance(node.value, tuple) else node.value


@pytest.mark.parametrize(
    ("under", "over", "merged"),
    [
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": {"x": 1, "y": 2}}, {"a": {"y": 3}}, {"a": {"x": 1, "y": 3}}),
        ({"a": [1, 2, 3]}, {"a": [4]}, {"a": [4]}),
        ({"a": {"x": 1}}, {"a": None}, {"a": None}),
        ({"a": None}, {"a": {"x": 1}}, {"a": {"x": 1}}),
        ({"a": 1}, {"a": {"x": 1}}, {"a": {"x": 1}}),
        ({"a": 1}, {}, {"a": 1}),
    ],
)
def test_sections_merge_and_all_else_is_replaced(under: object, over: object, merged: object) -> None:
    assert plain(merge(wrapped(under, UNDER), wrapped(over, OVER))) == merged


def test_each_value_keeps_its_origin_through_a_merge() -> None:
    tree = merge(wrapped({"a": {"x": 1, "y": [1]}}, UNDER), wrapped({"a": {"z": 3}}, OVER))
    assert origin_at(tree, ("a", "x")) == UNDER
    assert origin_at(tree, ("a", "z")) == OVER
    assert origin_at(tree, ("a", "y", 0)) == UNDER
    assert origin_at(tree, ("b",)).layer == "default"
    assert origin_at(tree, ("a",)) == UNDER


def test_a_path_becomes_nested_sections() -> None:
    assert plain(nested(("a", "b"), wrapped(3, OVER))) == {"a": {"b": 3}}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("train", "batch_size"), "train.batch_size"),
        (("rows", 0, "id"), "rows[0].id"),
        (("prices", "gpt-4.1", "input"), 'prices."gpt-4.1".input'),
        (("a\x1b[31m",), '"a\\x1b[31m"'),
    ],
)
def test_paths_are_written_as_people_do(path: KeyPath, text: str) -> None:
    assert dotted(path) == text


def test_a_problem_names_its_place_and_its_key_once() -> None:
    assert str(Problem(origin=UNDER, path=("a", "b"), text="no")) == "base.yaml: a.b: no"
    assert str(Problem(origin=UNDER, path=("a", "B" * 41), text="no")) == 'base.yaml: a."…": no'
    flag = Origin(layer="flag", where="--set a.b")
    assert str(Problem(origin=flag, path=("a", "b"), text="no")) == "--set a.b: no"


@pytest.mark.parametrize(
    ("key", "secret"),
    [
        ("api_key", True),
        ("apiKey", True),
        ("API-KEY", True),
        ("token", True),
        ("auth_token", True),
        ("client_secret", True),
        ("password", True),
        ("Authorization", True),
        ("max_tokens", False),
        ("tokens", False),
        ("token_count", False),
        ("key", False),
        ("secretary", False),
        ("monkey", False),
    ],
)
def test_which_keys_name_secrets(key: str, secret: bool) -> None:
    assert names_secret(key) is secret


@pytest.mark.parametrize("value", ["none", "${NAME}", None])
def test_a_reference_none_and_null_are_no_literal_secrets(value: object) -> None:
    assert literal_secrets(wrapped({"m": {"api_key": value}}, UNDER), is_reference) == ()


@pytest.mark.parametrize(
    "value", ["sk-123456", "", "None", "$NAME", "${A}x", 12345678, True, ["sk-123456"], {"x": "s"}]
)
def test_a_literal_secret_is_found_at_any_depth_and_not_repeated(value: object) -> None:
    found = literal_secrets(wrapped({"m": [{"api_key": value}]}, UNDER), is_reference)
    assert len(found) == 1
    assert "m[0].api_key" in str(found[0])
    assert "123456" not in str(found[0])


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "nothing (null)"),
        (True, "true"),
        (3, "the number 3"),
        (10**400, "the number too large"),
        ("yes", "text 'yes'"),
        ("S" * 25, "text of 25 characters"),
        ("a_name_of_many_lower_case_words", "text 'a_name_of_many_lower_case_words'"),
        ((), "a list"),
        ({}, "a section"),
    ],
)
def test_how_values_are_described(value: object, said: str) -> None:
    assert shown(value) == said


def test_a_tree_too_deep_and_a_date_are_refused() -> None:
    deep: object = 1
    for _ in range(21):
        deep = [deep]
    with pytest.raises(UsageError, match="20 deep"):
        wrapped(deep, UNDER)
    with pytest.raises(UsageError, match="quotes"):
        wrapped({"a": complex(1)}, UNDER)
