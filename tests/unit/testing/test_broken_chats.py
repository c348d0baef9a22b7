from __future__ import annotations

import pytest

from skillopt.testing.broken_chats import BROKEN_CHATS
from skillopt.testing.chat_contract import plain_request
from skillopt.testing.clock import run_virtual


@pytest.mark.parametrize("name", sorted(BROKEN_CHATS))
def test_each_broken_chat_works_as_long_as_its_promise_is_not_called_in(name: str) -> None:
    chat = BROKEN_CHATS[name]("echo")
    assert run_virtual(chat.send(plain_request("hello"))).text == "hello"
    assert chat.timeout > 0
    assert chat.worst(plain_request()).calls == 1
    run_virtual(chat.close())
