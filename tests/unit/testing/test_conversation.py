from __future__ import annotations

import pytest

from skillopt.domain.chat import ChatRequest, Image, JsonSchema, Message, Tool
from skillopt.testing.conversation import BrainReply, Conversation, ToolCall, Turn, conversation_of, count_tokens
from skillopt.testing.conversation import Tool as Offered


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("é" * 8, 2)])
def test_tokens_are_a_quarter_of_the_characters_rounded_up(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


@pytest.mark.parametrize(
    ("model", "role"),
    [("gpt-opt", "optimizer"), ("optimizer-judge", "optimizer"), ("a-judge", "judge"), ("anything", "target")],
)
def test_the_model_name_says_the_role(model: str, role: str) -> None:
    assert Conversation(model=model, system="", turns=()).role == role


def test_a_request_keeps_its_turns_and_joins_its_system_messages() -> None:
    request = ChatRequest(
        messages=(
            Message("system", "one"),
            Message("user", "ask"),
            Message("assistant", "say"),
            Message("system", "two"),
            Message("user", "again"),
        ),
        max_tokens=5,
        seed=3,
    )
    conversation = conversation_of(request, "m")
    assert conversation.system == "one\n\ntwo"
    assert conversation.turns == (Turn("user", "ask"), Turn("assistant", "say"), Turn("user", "again"))
    assert conversation.asked == "again"
    assert (conversation.max_tokens, conversation.seed) == (5, 3)


def test_the_digest_tells_conversations_apart() -> None:
    one = Conversation(model="m", system="ab", turns=(Turn("user", "c"),))
    same = Conversation(model="m", system="ab", turns=(Turn("user", "c"),))
    others = [
        Conversation(model="m", system="a", turns=(Turn("user", "bc"),)),
        Conversation(model="m", system="ab", turns=(Turn("assistant", "c"),)),
        Conversation(model="m", system="ab", turns=(Turn("user", "c"),), seed=1),
    ]
    assert one.digest == same.digest
    assert one.digest not in {other.digest for other in others}


def test_a_reply_that_fits_is_untouched_and_a_longer_one_stops_for_length() -> None:
    reply = BrainReply(text="x" * 41)
    assert reply.within(None) is reply
    assert reply.within(11) is reply
    cut = reply.within(10)
    assert (cut.finish, cut.output_tokens) == ("length", 10)


def test_tool_calls_cost_tokens_and_an_empty_reply_costs_one() -> None:
    assert BrainReply(calls=(ToolCall(name="run", arguments='{"a":1}'),)).output_tokens == 3
    assert BrainReply().output_tokens == 1


def test_a_brain_sees_images_by_content_tools_by_name_and_results() -> None:
    image = Image(media_type="image/png", digest="d", fetch=lambda: b"")
    request = ChatRequest(
        messages=(Message("user", "look", (image,)), Message("tool", "found", call_id="c")),
        max_tokens=5,
        tools=(Tool(name="t", description="", parameters='{"properties": {"by": {"type": "string"}, "a": {}}}'),),
        schema=JsonSchema(name="s", definition='{"properties": {"word": {"type": "string"}}}'),
    )
    seen = conversation_of(request, "m")
    assert seen.turns == (Turn("user", "look", ("d",)), Turn("tool", "found"))
    assert seen.tools == (Offered(name="t", fields={"by": "string", "a": ""}),)
    assert seen.form == {"word": "string"}
    assert seen.digest != conversation_of(ChatRequest(messages=request.messages[1:], max_tokens=5), "m").digest


def test_a_conversation_of_text_has_the_digest_it_always_had() -> None:
    talk = (Message("system", "Be brief."), Message("user", "Hi?"))
    asked = ChatRequest(messages=talk, max_tokens=10, temperature=0.5)
    assert conversation_of(asked, "m").digest == "b4e471305df6f4ea4757dde837bdc70a"
