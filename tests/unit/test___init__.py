from __future__ import annotations

import operator
import subprocess
import sys

import pytest

import skillopt
from skillopt.domain.skill import Skill
from tests.architecture.source_tree import PACKAGE


def test_public_names_are_the_domains_own() -> None:
    assert skillopt.Skill is Skill
    assert dir(skillopt) == sorted(skillopt.__all__)


def test_an_unknown_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Skil'"):
        operator.attrgetter("Skil")(skillopt)


def test_importing_the_package_loads_nothing_else() -> None:
    code = "import sys, skillopt; print([name for name in sys.modules if name.startswith(('skillopt.', 'msgspec'))])"
    found = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(PACKAGE.parent)},
    )
    assert found.stdout == "[]\n"
