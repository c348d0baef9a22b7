"""Types, not dicts, cross module boundaries: no public signature or field says only `dict`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.source_tree import Function, Module, modules

# rows, model replies and config files arrive as dicts; these rooms turn them into values
EDGES = {"store/codec.py", "kernel/dialogue.py", "app/load.py"}
DICTS = {"dict", "Dict"}
MAPPINGS = DICTS | {"Mapping", "MutableMapping"}
ANYTHING = {"Any", "object"}


def last_name(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else None


def is_shapeless(annotation: ast.expr) -> bool:
    """Whether a bare dict, or a mapping from text to anything, stands anywhere in the annotation."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return is_shapeless(ast.parse(annotation.value, mode="eval").body)
    if isinstance(annotation, ast.Subscript) and last_name(annotation.value) == "Literal":
        return False
    if isinstance(annotation, ast.Subscript) and last_name(annotation.value) in MAPPINGS:
        inner = annotation.slice
        if isinstance(inner, ast.Tuple) and last_name(inner.elts[-1]) in ANYTHING:
            return True
        return is_shapeless(inner)
    if last_name(annotation) in DICTS:
        return True
    return any(is_shapeless(child) for child in ast.iter_child_nodes(annotation) if isinstance(child, ast.expr))


def signature(function: Function) -> Iterator[ast.expr]:
    arguments = function.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if argument is not None and argument.annotation is not None:
            yield argument.annotation
    if function.returns is not None:
        yield function.returns


def boundaries(module: Module) -> Iterator[ast.expr]:
    """What other modules can see: annotations of public functions, methods and class fields."""
    for node in ast.walk(module.tree):
        if isinstance(node, Function) and (not node.name.startswith("_") or node.name == "__init__"):
            yield from signature(node)
        if isinstance(node, ast.ClassDef):
            yield from (
                field.annotation
                for field in node.body
                if isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and not field.target.id.startswith("_")
            )


def test_no_shapeless_dict_crosses_a_boundary() -> None:
    found = [
        f"{module.at(annotation)} {ast.unparse(annotation)}"
        for module in modules()
        if module.name not in EDGES
        for annotation in boundaries(module)
        if is_shapeless(annotation)
    ]
    assert not found, "give the value a name: a frozen msgspec.Struct"


@pytest.mark.parametrize(
    ("annotation", "shapeless"),
    [
        ("dict", True),
        ("dict[str, Any]", True),
        ("list[dict[str, object]] | None", True),
        ("Mapping[str, Any]", True),
        ("'dict[str, Any]'", True),
        ("Mapping[str, dict]", True),
        ("dict[str, int]", False),
        ("Mapping[str, tuple[str, ...]]", False),
        ("tuple[Edit, ...]", False),
        ("Literal['front matter']", False),
    ],
)
def test_shapeless_is_recognised(annotation: str, shapeless: bool) -> None:
    assert is_shapeless(ast.parse(annotation, mode="eval").body) is shapeless
