"""No module keeps state of its own: nothing rebinds a global, nothing mutates a module's list, dict or set."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.source_tree import modules

LITERALS = ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp
MAKERS = {
    "list",
    "dict",
    "set",
    "bytearray",
    "defaultdict",
    "deque",
    "OrderedDict",
    "Counter",
    "count",
    "WeakValueDictionary",
}
MUTATORS = {
    "add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem", "popleft", "remove",
    "reverse", "setdefault", "sort", "update",
}  # fmt: skip


def is_mutable(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Call):
        maker = value.func
        return (maker.id if isinstance(maker, ast.Name) else getattr(maker, "attr", "")) in MAKERS
    return isinstance(value, LITERALS)


def module_mutables(tree: ast.Module) -> set[str]:
    """Names bound at module level to something that can change."""
    names: set[str] = set()
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and is_mutable(statement.value):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names.update(target.id for target in targets if isinstance(target, ast.Name))
    return names


def mutated(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions that this node changes in place."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
        yield node.func.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "next" and node.args:
        yield node.args[0]
    if isinstance(node, ast.AugAssign):
        yield node.target
    targets: list[ast.expr] = node.targets if isinstance(node, ast.Assign | ast.Delete) else []
    for target in (*targets, *([node.target] if isinstance(node, ast.AugAssign) else [])):
        if isinstance(target, ast.Subscript):
            yield target.value


def changes(tree: ast.Module) -> list[int]:
    """Line numbers where a module's own state is changed."""
    names = module_mutables(tree)
    return sorted(
        {
            node.lineno
            for node in ast.walk(tree)
            if isinstance(node, ast.stmt | ast.expr)
            and (
                isinstance(node, ast.Global)
                or any(isinstance(value, ast.Name) and value.id in names for value in mutated(node))
            )
        }
    )


def test_no_module_changes_its_own_state() -> None:
    found = [f"{module.name}:{line}" for module in modules() for line in changes(module.tree)]
    assert not found, "keep it in an object that someone makes and passes on; two runs must fit in one process"


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("SEEN = []\ndef f(x):\n    SEEN.append(x)\n", [3]),
        ("SEEN: dict[str, int] = {}\ndef f(x):\n    SEEN[x] = 1\n", [3]),
        ("SEEN = {}\ndef f(x):\n    del SEEN[x]\n", [3]),
        ("COUNTS = Counter()\ndef f(x):\n    COUNTS[x] += 1\n", [3]),
        ("NUMBERS = itertools.count()\ndef f():\n    return next(NUMBERS)\n", [3]),
        ("STATE = None\ndef f(x):\n    global STATE\n    STATE = x\n", [3]),
        ("NAMES = {'a': 1}\ndef f(x):\n    return NAMES[x]\n", []),
        ("def f(x):\n    seen = []\n    seen.append(x)\n", []),
    ],
)
def test_changes_are_recognised(source: str, lines: list[int]) -> None:
    assert changes(ast.parse(source)) == lines
