from __future__ import annotations

import pytest

from skillopt.agents.claude_code.events import lines, read_line
from tests.unit.agents.claude_code.stand import result, said


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"[]", b'"text"', b"\xff\xfe", b'{"type": 3}', b'{"message": {"content": 1}}', b"[" * 100_000],
    ids=["empty", "cut", "list", "text", "bytes", "number", "content", "deep"],
)
def test_what_is_no_event_is_passed_over(raw: bytes) -> None:
    assert read_line(raw) is None


def test_events_of_a_later_version_are_no_obstacle() -> None:
    found = list(lines(b'{"type": "new", "what": [1]}\n[... 12 bytes left out ...]\n' + result()))
    assert [line.type for line in found] == ["new", "result"]


def test_a_result_may_be_a_text_or_blocks() -> None:
    raw = b'{"type":"user","message":{"content":[{"type":"tool_result","content":[{"type":"text","text":"a"}]}]}}'
    message = next(iter(lines(raw))).message
    assert message is not None
    assert message.blocks[0].words == "a"


def test_the_program_speaks_for_itself_at_times() -> None:
    real, own = lines(said({"type": "text", "text": "a"}) + said(model="<synthetic>"))
    assert (real.is_synthetic, own.is_synthetic) == (False, True)
