"""What reaches a terminal."""

from __future__ import annotations

import io
import json

import pytest

from skillopt.cli.output import error_panel, json_line, show_error, strip_controls, wants_colour
from skillopt.domain.errors import SkilloptError, StoreError, UsageError
from skillopt.domain.usage import Usage


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("text", "stripped"),
    [
        ("plain ü 漢字 🎉\n\ttab", "plain ü 漢字 🎉\n\ttab"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;never ends", ""),
        ("\x1b(0line\x1bM", "line"),
        ("\x1bPquery\x1b\\after", "after"),
        ("a\rb\x08c\x7f\x9b31md\x00", "abc31md"),
        ("user\u202etxt.exe\u202c", "usertxt.exe"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("one\u2028line", "oneline"),
        ("half \ud800", "half \N{REPLACEMENT CHARACTER}"),
        ("\x1b\x1b[31mx", "x"),
    ],
)
def test_control_characters_are_stripped(text: str, stripped: str) -> None:
    assert strip_controls(text) == stripped
    assert strip_controls(stripped) == stripped


@pytest.mark.parametrize(
    ("stream", "environ", "wanted"),
    [
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": ""}, True),
        (Terminal(), {"NO_COLOR": "0"}, False),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {}, False),
    ],
)
def test_when_colours_are_wanted(stream: io.StringIO, environ: dict[str, str], wanted: bool) -> None:
    assert wants_colour(stream, environ) is wanted


def test_a_closed_stream_wants_no_colours() -> None:
    closed = Terminal()
    closed.close()
    assert not wants_colour(closed, {})


def test_the_panel_says_what_why_and_what_next() -> None:
    panel = error_panel("No tasks.", cause="OSError: gone", hint="Add tasks.")
    assert panel == "error: No tasks.\ncause: OSError: gone\nnext:  Add tasks."
    assert error_panel("No tasks.") == "error: No tasks."
    assert error_panel("\x1b[31mred") == "error: red"


def _raised(error: SkilloptError, cause: BaseException | None) -> SkilloptError:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("cause", "line"),
    [
        (None, ""),
        (PermissionError(13, "Permission denied"), "cause: PermissionError: [Errno 13] Permission denied\n"),
        (StoreError("Locked."), "cause: StoreError: Locked.\n"),
        (ValueError("quotes api_key: sk-123"), ""),
    ],
)
def test_an_error_goes_to_stderr(cause: BaseException | None, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    show_error(_raised(UsageError("No.", hint="Yes."), cause))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"error: No.\n{line}next:  Yes.\n"


def test_json_is_one_line_of_ascii() -> None:
    line = json_line({"usage": Usage(calls=2), "text": "ü\n\u2028\x1b[31m\x9b", "none": None})
    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line) == {
        "usage": {"calls": 2, "input_tokens": 0, "cached_tokens": 0, "output_tokens": 0, "nano_usd": 0},
        "text": "ü\n\u2028\x1b[31m\x9b",
        "none": None,
    }


def test_json_has_no_numbers_that_json_does_not_know() -> None:
    with pytest.raises(ValueError, match="JSON"):
        json_line({"score": float("nan")})
