"""Patterns that turn broken into a number, words that name a thing twice, and facts of somebody's machine."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.source_tree import ROOT, modules

# what we call it instead
SYNONYMS = {
    "helper": "a name for what it does",
    "hyperparam": "plan",
    "hyperparameter": "plan",
    "learner": "target or optimizer",
    "manager": "a name for what it owns",
    "misc": "a name for what it is",
    "reward": "score",
    "trajectory": "transcript",
    "util": "a name for what it does",
    "utils": "a name for what it does",
}
# joined here so that this file does not find itself
MACHINE_FACTS = (
    "/work" + "/main",
    "/work" + "/shared",
    "/work" + "/.library",
    "/ro" + "ot/",
    "/opt" + "/wheels",
    "/opt" + "/pypi",
    "pypi" + ".org",
    "python" + "hosted",
    "registry.npm" + "js",
    "deb." + "debian",
)
SKIPPED_FOLDERS = {
    ".cache",
    ".git",
    ".hypothesis",
    ".cache",
    ".venv",
    ".venv-lock",
    ".skillopt",
    "__pycache__",
    "build",
    "dist",
    "node_modules",
}


def is_nothing(node: ast.expr) -> bool:
    """Whether the expression is the number 0 or -1."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return isinstance(node.operand, ast.Constant) and node.operand.value == 1
    return isinstance(node, ast.Constant) and type(node.value) in {int, float} and node.value == 0


def is_silent_default(node: ast.AST) -> bool:
    """Whether the node turns a missing value into one that looks measured: `or 0`, `or -1`, `.get(…, {})`."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        return is_nothing(node.values[-1])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        return len(node.args) == 2 and isinstance(node.args[1], ast.Dict) and not node.args[1].keys
    return False


def identifiers(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The names that a module gives to things, each with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno


def words(identifier: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", identifier)}


def repository_files() -> Iterator[Path]:
    for folder, subfolders, files in os.walk(ROOT):
        subfolders[:] = [
            name for name in subfolders if name not in SKIPPED_FOLDERS and not name.endswith(("_cache", ".egg-info"))
        ]
        yield from (Path(folder, file) for file in files if file != ".git")  # a linked work tree says where it is from


def test_no_missing_value_becomes_a_number() -> None:
    found = [
        module.at(node)
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.expr) and is_silent_default(node)
    ]
    assert not found, "wrong, broken and unknown are different values: keep None, or raise"


def test_one_name_for_each_idea() -> None:
    found = [
        f"{module.name}:{line} {name}: say {SYNONYMS[word]}"
        for module in modules()
        for name, line in identifiers(module.tree)
        for word in sorted(words(name) & set(SYNONYMS))
    ]
    assert not found


def test_no_file_knows_this_machine_or_a_registry() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {fact}"
        for path in repository_files()
        for fact in MACHINE_FACTS
        if fact.encode() in path.read_bytes()
    ]
    assert not found


@pytest.mark.parametrize(
    ("source", "silent"),
    [
        ("score or 0", True),
        ("score or 0.0", True),
        ("a or b or -1", True),
        ("row.get('usage', {})", True),
        ("flag or False", False),
        ("score or 1", False),
        ("row.get('usage')", False),
        ("row.get('usage', {'calls': 1})", False),
        ("0 or score", False),
    ],
)
def test_silent_defaults_are_recognised(source: str, silent: bool) -> None:
    assert is_silent_default(ast.parse(source, mode="eval").body) is silent


def test_words_are_split_at_capitals_and_underscores() -> None:
    assert words("HTTPManager_of_rewardValues") == {"http", "manager", "of", "reward", "values"}
