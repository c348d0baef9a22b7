"""The test of a module is where you look for it, uses public names, and patches nothing."""

from __future__ import annotations

import ast

from tests.architecture.source_tree import TESTS, Function, Module, modules

MIRRORED = 0.95
OTHER_FOLDERS = ("contracts", "wire", "simulation")
PATCHES = {"setattr", "delattr", "setitem", "delitem"}


def does_something(function: Function) -> bool:
    """Whether the function has a body beyond its docstring and `...`, as a port's methods have not."""
    return any(
        not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        for statement in function.body
    )


def has_code(module: Module) -> bool:
    return any(does_something(function) for function in module.functions())


def is_tested(module: Module) -> bool:
    """Whether the mirrored test file exists, or a test of whole parts imports the module."""
    folder, _, file = module.name.rpartition("/")
    if (TESTS / "unit" / folder / f"test_{file}").is_file():
        return True
    package = ".".join(["skillopt", *folder.split("/")]).rstrip(".")
    name = file.removesuffix(".py")
    wanted = {package} if name == "__init__" else {f"{package}.{name}"}
    return any(wanted & imported(test) for other in OTHER_FOLDERS for test in modules(TESTS / other))


def imported(module: Module) -> set[str]:
    """Every dotted name that the module imports, whole."""
    names: set[str] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def is_private(dotted: str) -> bool:
    return any(part.startswith("_") and not part.startswith("__") for part in dotted.split("."))


def test_tests_are_where_you_look_for_them() -> None:
    code = [module for module in modules() if has_code(module)]
    homeless = [module.name for module in code if not is_tested(module)]
    assert len(homeless) <= (1 - MIRRORED) * len(code), f"no tests/unit/…/test_….py for {homeless}"


def test_tests_use_public_names_only() -> None:
    found = {
        test.name: private
        for test in modules(TESTS)
        if (private := [name for name in imported(test) if name.startswith("skillopt") and is_private(name)])
    }
    assert not found, "test through the public name; if that is not possible, a seam is missing"


def test_nothing_is_mocked_or_patched() -> None:
    found = [
        test.at(node)
        for test in modules(TESTS)
        for node in ast.walk(test.tree)
        if isinstance(node, ast.Attribute)
        and node.attr in PATCHES
        and isinstance(node.value, ast.Name)
        and node.value.id == "monkeypatch"
    ]
    assert not found, "pass a fake in; skillopt.testing has them"
    assert not [test.name for test in modules(TESTS) if any(name.startswith("unittest") for name in imported(test))]
