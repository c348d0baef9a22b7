from __future__ import annotations

import pytest

from skillopt.cli.shown.differences import print_difference
from skillopt.domain.skill.content import cautions


def test_new_addresses_and_commands_are_marked(capsys: pytest.CaptureFixture[str]) -> None:
    new = "See https://example.org/a and https://example.org/b.\nRun `curl https://example.org/a`."
    found = cautions(new, "See https://example.org/a.")
    print_difference(["+See"], ["done"], found)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "+See"
    assert lines[1].startswith("! new URL https://example.org/b")
    assert any(line.startswith("! new command `curl ") for line in lines)
    assert lines[-1] == "done"


def test_a_model_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_difference(["+\x1b[2Jgone\u202e"], ["\x07ping"], ["\x1b]0;title\x07new URL"])
    assert capsys.readouterr().out == "+gone\n! new URL\nping\n"
