"""The repository as the architecture tests see it: modules, syntax trees, functions, allow-lists.

It reads files and never imports skillopt, so a half-written tree can still be judged.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "skillopt"
TESTS = ROOT / "tests"
ALLOW = TESTS / "architecture" / "allow"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One Python file; `name` is its path below the folder it was listed from, with slashes."""

    path: Path
    name: str

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, filename=str(self.path))

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())

    def functions(self) -> Iterator[Function]:
        for node in ast.walk(self.tree):
            if isinstance(node, Function):
                yield node

    def at(self, node: ast.stmt | ast.expr | ast.arg) -> str:
        return f"{self.name}:{node.lineno}"


@cache
def modules(folder: Path = PACKAGE) -> tuple[Module, ...]:
    """Every Python file below the folder, in a stable order."""
    return tuple(Module(path, path.relative_to(folder).as_posix()) for path in sorted(folder.rglob("*.py")))


def module(name: str) -> Module:
    return Module(PACKAGE / name, name)


@cache
def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def allowed(list_name: str) -> dict[str, str]:
    """Read an allow-list: one entry a line, then two spaces or more, then its reason or number."""
    entries: dict[str, str] = {}
    for line in (ALLOW / list_name).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            entry, _, remark = line.partition("  ")
            entries[entry.strip()] = remark.strip()
    return entries


def length(function: Function) -> int:
    assert function.end_lineno is not None
    return function.end_lineno - function.lineno + 1
