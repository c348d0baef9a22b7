from __future__ import annotations

from pathlib import Path

import pytest

from skillopt.agents.cursor.adapter import Cursor
from skillopt.agents.program import Cause
from tests.unit.agents.endings import STOPPED, How, ended, lines


@pytest.mark.parametrize(
    ("events", "how", "cause"),
    [
        ((), How(exit_code=1, stderr=b"Authentication required. Please log in."), "login"),
        ((), How(exit_code=1, stderr=b"Cannot use this model: x"), "refused"),
        ((), STOPPED, "unavailable"),
        ((), How(), "crashed"),
        (({"type": "result", "subtype": "success", "is_error": True, "result": "rate limit"},), How(), "rate_limited"),
        (({"type": "result", "subtype": "success", "result": " "},), How(), "empty"),
        (({"type": "result", "subtype": "success", "result": "Here."},), How(exit_code=2), "crashed"),
    ],
)
def test_exit_code_events_and_words_must_agree(
    tmp_path: Path, events: tuple[dict[str, object], ...], how: How, cause: Cause
) -> None:
    problem = Cursor().heard(ended(tmp_path, lines(*events), how)).problem
    assert problem is not None
    assert problem.cause == cause
