"""How Anthropic is told of results and calls in a longer talk; single requests are in tests/wire."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from skillopt.backends.dialects.message_turns import written_turns
from skillopt.domain.chat import Message, ToolCall

CALL = ToolCall(id="c", name="f", arguments='{"a": 1}')
TURNS = {
    "user": Message("user", "ask"),
    "said": Message("assistant", "say"),
    "called": Message("assistant", "", calls=(CALL,)),
    "result": Message("tool", "found", call_id="c"),
}


@given(st.lists(st.sampled_from(sorted(TURNS)), min_size=1))
def test_results_that_stand_together_are_one_turn_and_nothing_is_lost_or_moved(kinds: list[str]) -> None:
    written = json.loads(b"[%b]" % written_turns([TURNS[kind] for kind in kinds]))
    told: list[str] = []
    for turn in written:
        if isinstance(turn["content"], str):
            told.append("user" if turn["role"] == "user" else "said")
        else:
            told.extend({"tool_result": "result", "tool_use": "called"}[block["type"]] for block in turn["content"])
    assert told == kinds
    full = [turn for turn in written if not isinstance(turn["content"], str) and turn["role"] == "user"]
    runs = sum(kind == "result" and (place == 0 or kinds[place - 1] != "result") for place, kind in enumerate(kinds))
    assert len(full) == runs
