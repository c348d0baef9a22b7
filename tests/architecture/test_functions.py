"""Functions are short, and the loops read on one screen without doing any work themselves."""

from __future__ import annotations

import ast

import pytest

from tests.architecture.source_tree import PACKAGE, Function, length, module, modules

LONGEST = 80
NINETIETH_PERCENTILE = 35
LOOP_LINES = 45
LOOP_NESTING = 3
BLOCKS = ast.If | ast.For | ast.AsyncFor | ast.While | ast.With | ast.AsyncWith | ast.Try | ast.TryStar | ast.Match
LOOPS = [("train/loop.py", "train"), *([("sleep/loop.py", "night")] if (PACKAGE / "sleep").is_dir() else [])]


def nesting(node: ast.AST) -> int:
    """How deep the blocks inside this node go; an `elif` is as deep as its `if`."""
    deepest = 0
    for child in ast.iter_child_nodes(node):
        chained = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
        deepest = max(deepest, nesting(child) + (isinstance(child, BLOCKS) and not chained))
    return deepest


def loop(file: str, name: str) -> Function:
    assert (PACKAGE / file).is_file(), f"{file} does not exist"
    found = [function for function in module(file).functions() if function.name == name]
    assert found, f"{file} has no function {name}"
    return found[0]


def test_no_function_is_longer_than_a_page() -> None:
    long = {
        f"{module.at(function)} {function.name}": length(function)
        for module in modules()
        for function in module.functions()
        if length(function) > LONGEST
    }
    assert not long


def test_nine_functions_in_ten_fit_half_a_page() -> None:
    lengths = sorted(length(function) for module in modules() for function in module.functions())
    assert lengths
    assert lengths[int(len(lengths) * 0.9)] <= NINETIETH_PERCENTILE


@pytest.mark.parametrize(("file", "name"), LOOPS)
def test_a_loop_reads_on_one_screen(file: str, name: str) -> None:
    function = loop(file, name)
    assert length(function) <= LOOP_LINES
    assert nesting(function) <= LOOP_NESTING
    calls = {
        node.func.id for node in ast.walk(function) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not calls & {"open", "print"}, "a loop names phases; it does no I/O"


def test_nesting_counts_blocks_and_not_elif() -> None:
    source = "for a in b:\n if a:\n  pass\n elif b:\n  pass\n elif c:\n  with d:\n   pass\n"
    assert nesting(ast.parse(source)) == 3
