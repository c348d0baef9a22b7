"""Exceptions to the rules are counted, carry a reason on their line, and only become fewer."""

from __future__ import annotations

import re

import pytest

from tests.architecture.source_tree import TESTS, Module, allowed, modules, pyproject

NOQA = re.compile(r"#\s*noqa\b(?::\s*[A-Z]+\d+(?:\s*,\s*[A-Z]+\d+)*)?(?P<reason>[^#]*)")
IGNORED_TYPE = re.compile(r"#\s*type:\s*ignore\b(?:\[[^\]]*\])?(?P<reason>.*)")
NO_COVER = re.compile(r"#\s*pragma:\s*no cover(?P<reason>.*)")
PATTERNS = {"noqa": NOQA, "type-ignore": IGNORED_TYPE, "no-cover": NO_COVER}
MARKS = "# \t—–-:"


def suppressions(kind: str) -> list[tuple[str, str]]:
    """Where the comment of this kind stands in code and tests, and the reason beside it."""
    found: list[tuple[str, str]] = []
    for module in (*modules(), *modules(TESTS)):
        if module.path.parent.name == "architecture":
            continue
        for number, line in enumerate(module.text.splitlines(), start=1):
            if match := PATTERNS[kind].search(line):
                found.append((f"{module.name}:{number}", match["reason"].strip(MARKS)))
    return found


def counted() -> dict[str, int]:
    tool = pyproject()["tool"]
    contracts = tool["importlinter"]["contracts"]
    ignores = tool["ruff"]["lint"]["per-file-ignores"]
    return {
        **{kind: len(suppressions(kind)) for kind in PATTERNS},
        "ruff-ignores": len(tool["ruff"]["lint"]["ignore"]),
        "per-file-ignores": sum(len(codes) for files, codes in ignores.items() if files.startswith("src/")),
        "ignored-imports": sum(len(contract.get("ignore_imports", [])) for contract in contracts),
        "long-modules": len(allowed("long_modules.txt")),
    }


@pytest.mark.parametrize("kind", counted())
def test_exceptions_only_become_fewer(kind: str) -> None:
    found, recorded = counted()[kind], int(allowed("counts.txt")[kind])
    assert found <= recorded, f"{found} {kind}, {recorded} allowed: mend the code instead {suppressions_of(kind)}"
    assert found == recorded, f"only {found} {kind} are left: lower the number in allow/counts.txt, so that it stays so"


def suppressions_of(kind: str) -> list[str]:
    return [place for place, _ in suppressions(kind)] if kind in PATTERNS else []


@pytest.mark.parametrize("kind", PATTERNS)
def test_every_exception_says_why(kind: str) -> None:
    unexplained = [place for place, reason in suppressions(kind) if len(reason) < 10]
    assert not unexplained, "write the reason behind the comment, on the same line"


def test_door_files_are_the_only_ones_past_a_ban() -> None:
    ignores = pyproject()["tool"]["ruff"]["lint"]["per-file-ignores"]
    assert {files for files, codes in ignores.items() if "TID251" in codes} == set(allowed("doors.txt"))


def test_reasons_are_recognised(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("source") / "sample.py"
    path.write_text("a = 1  # noqa: E501, F401 - a reason\nb = 2  # noqa: BLE001\n", encoding="utf-8")
    lines = Module(path, "sample.py").text.splitlines()
    assert [found["reason"].strip(MARKS) for line in lines if (found := NOQA.search(line))] == ["a reason", ""]
