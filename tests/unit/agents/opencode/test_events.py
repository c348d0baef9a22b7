from __future__ import annotations

from pathlib import Path

import pytest

from skillopt.agents.opencode.events import EVENTS, Spent, fault, logged
from skillopt.agents.telling.tokens import Tokens


@pytest.mark.parametrize(
    ("spent", "tokens"),
    [
        (Spent(input=10, output=2), Tokens(input=10, output=2)),
        (Spent(input=10, output=2, reasoning=3), Tokens(input=10, output=5)),
        (Spent(total=15, input=10, output=5, reasoning=3), Tokens(input=10, output=5)),
    ],
)
def test_tokens_of_thinking_are_counted_once(spent: Spent, tokens: Tokens) -> None:
    assert spent.tokens == tokens


def test_an_error_of_another_shape_keeps_its_own_words() -> None:
    assert fault(EVENTS.decode(b'{"type": "error", "error": {"_tag": "Odd"}}')).data.message == '{"_tag": "Odd"}'


def test_without_a_log_nothing_failed(tmp_path: Path) -> None:
    assert logged(tmp_path) == ""
