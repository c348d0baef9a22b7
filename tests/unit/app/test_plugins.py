"""Loading code by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillopt.app.plugins import load_attribute
from skillopt.domain.errors import UsageError


def test_a_name_is_loaded() -> None:
    assert load_attribute("skillopt.domain.errors", "UsageError") is UsageError


@pytest.mark.parametrize("module", ["skillopt.no_such_room", "no_such_package.inside"])
def test_a_missing_module_is_named(module: str) -> None:
    with pytest.raises(UsageError, match=f"no module '{module}'"):
        load_attribute(module, "command")


def test_a_missing_name_lists_the_nearest() -> None:
    with pytest.raises(UsageError, match="Did you mean 'UsageError'"):
        load_attribute("skillopt.domain.errors", "UsageErorr")


def test_a_module_that_needs_something_missing_says_what(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "needs_more.py").write_text("import a_package_nobody_has\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match="'needs_more' needs 'a_package_nobody_has'"):
        load_attribute("needs_more", "anything")
