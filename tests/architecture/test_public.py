"""The public surface is what `__all__` says, and changes only on purpose."""

from __future__ import annotations

from types import ModuleType

import skillopt
from tests.architecture.public_api import public_names, render
from tests.architecture.source_tree import TESTS

NOT_OURS = {"annotations", "TYPE_CHECKING"}


def test_the_namespace_is_what_it_says() -> None:
    names = public_names()
    assert len(names) == len(set(names))
    assert not [name for name in names if not hasattr(skillopt, name)]
    visible = {
        name
        for name in dir(skillopt)
        if not name.startswith("_") and name not in NOT_OURS and not isinstance(getattr(skillopt, name), ModuleType)
    }
    assert visible <= set(names), "public by accident: give it an underscore, or put it in __all__"


def test_the_public_names_change_on_purpose() -> None:
    recorded = (TESTS / "architecture" / "public_api.txt").read_text(encoding="utf-8")
    assert render() == recorded, "if this is meant, see the docstring of tests/architecture/public_api.py"
