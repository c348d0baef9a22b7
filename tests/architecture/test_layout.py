"""Folders have a layer, modules are rooms and not warehouses, and each says in five lines what it is for."""

from __future__ import annotations

import ast
import re
from collections import Counter

from tests.architecture.source_tree import PACKAGE, allowed, modules, pyproject

MODULES_A_FOLDER = 12
LINES_A_MODULE = 300
LINES_AT_MOST = 400
DOCSTRING_LINES = 5
DRAWN_DOCSTRINGS = {"domain/errors.py"}
WAREHOUSES = {"base", "common", "helper", "helpers", "manager", "misc", "util", "utils"}


def layers() -> tuple[set[str], set[str]]:
    """The folders that the contract says exist, and those it plans."""
    contracts = pyproject()["tool"]["importlinter"]["contracts"]
    (contract,) = [contract for contract in contracts if contract["type"] == "layers"]
    assert contract["exhaustive"] is True
    names = [name.strip() for layer in contract["layers"] for name in re.split(r"[|:]", layer)]
    planned = {name.strip("()") for name in names if name.startswith("(")}
    return {name for name in names if not name.startswith("(")}, planned


def test_the_contract_lists_exactly_the_folders_that_exist() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and any(path.glob("*.py"))}
    existing, planned = layers()
    assert existing & planned == set()
    assert folders == existing, "in the layers of pyproject.toml only planned folders stand in brackets"


def test_modules_at_the_top_are_only_the_public_face() -> None:
    assert {path.name for path in PACKAGE.glob("*.py")} <= {"__init__.py", "__main__.py"}


def test_no_folder_holds_more_than_a_dozen_modules() -> None:
    counts = Counter(module.path.parent for module in modules() if module.path.name != "__init__.py")
    crowded = {folder.relative_to(PACKAGE).as_posix(): n for folder, n in counts.items() if n > MODULES_A_FOLDER}
    assert not crowded, "make a subfolder with a name of its own"


def test_no_module_is_named_like_a_warehouse() -> None:
    names = {part for module in modules() for part in module.name.removesuffix(".py").split("/")}
    assert not names & WAREHOUSES, "name the file after the one thing it is for"


def test_every_module_says_in_five_lines_what_it_is_for() -> None:
    wordless = [module.name for module in modules() if not ast.get_docstring(module.tree)]
    assert not wordless
    long_winded = [
        module.name
        for module in modules()
        if module.name not in DRAWN_DOCSTRINGS
        and len((ast.get_docstring(module.tree) or "").splitlines()) > DOCSTRING_LINES
    ]
    assert not long_winded


def test_modules_are_short_or_say_why_not() -> None:
    reasons = allowed("long_modules.txt")
    long = {module.name: module.lines for module in modules() if module.lines > LINES_A_MODULE}
    assert not {name: n for name, n in long.items() if n > LINES_AT_MOST}, f"{LINES_AT_MOST} lines is the end of it"
    assert set(long) <= set(reasons), "split the module, or give its one sentence of reason in allow/long_modules.txt"
    assert set(reasons) <= set(long), "allow/long_modules.txt names a module that is short now: delete its line"
    assert all(reasons.values()), "a long module needs its reason on the same line"
