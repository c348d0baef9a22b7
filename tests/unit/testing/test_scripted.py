from __future__ import annotations

import asyncio

import pytest

from skillopt.domain.chat import ChatRequest, Message, ModelIdentity, Tool
from skillopt.domain.errors import (
    AuthError,
    EmptyReplyError,
    ProviderError,
    RateLimitedError,
    TruncatedError,
    UnavailableError,
    UsageError,
)
from skillopt.domain.usage import Price, Usage
from skillopt.testing.clock import run_virtual
from skillopt.testing.conversation import BrainReply, Conversation
from skillopt.testing.conversation import ToolCall as BrainCall
from skillopt.testing.faults import FaultKind, FaultPlan
from skillopt.testing.scripted import ScriptedChat


def request(text: str = "hello", max_tokens: int = 100) -> ChatRequest:
    return ChatRequest(messages=(Message("system", "sys"), Message("user", text)), max_tokens=max_tokens)


def test_a_reply_has_counted_usage_with_a_price() -> None:
    chat = ScriptedChat("echo", model="m", price=Price(input=1.0, output=10.0))
    reply = run_virtual(chat.send(request("hello there")))
    assert reply.text == "hello there"
    assert reply.usage == Usage(calls=1, input_tokens=4, output_tokens=3, nano_usd=34_000)
    assert chat.worst(request("hello there")) == Usage(calls=1, input_tokens=4, output_tokens=100, nano_usd=1_004_000)
    assert chat.used == reply.usage
    assert chat.identity == ModelIdentity(backend="scripted", address="echo", model="m")


def test_a_function_is_a_brain_and_gives_the_chat_an_address_of_its_own() -> None:
    def shout(conversation: Conversation) -> BrainReply:
        return BrainReply(text=conversation.asked.upper())

    chat = ScriptedChat(shout)
    assert run_virtual(chat.send(request("hello"))).text == "HELLO"
    assert chat.identity.address.endswith("shout")
    assert chat.identity.address != ScriptedChat("echo").identity.address


def test_the_same_request_gives_the_same_reply_whenever_it_is_sent() -> None:
    async def two() -> bool:
        one, other = ScriptedChat("coin"), ScriptedChat("coin")
        await other.send(request("something else"))
        return await one.send(request()) == await other.send(request())

    assert run_virtual(two())


def test_latency_passes_in_parallel_and_is_what_a_reply_says_it_took() -> None:
    chat = ScriptedChat("echo", latency=2.0)

    async def main() -> tuple[float, set[float]]:
        replies = await asyncio.gather(*(chat.send(request(str(number))) for number in range(10)))
        return asyncio.get_running_loop().time(), {reply.seconds for reply in replies}

    assert run_virtual(main()) == (2.0, {2.0})
    assert (chat.calls, chat.served, chat.max_in_flight, chat.in_flight) == (10, 10, 10, 0)


def test_faults_are_counted_and_are_not_served() -> None:
    chat = ScriptedChat("echo", faults=FaultPlan.always(FaultKind.RATE_LIMIT, max_repeats=2))

    async def main() -> None:
        for _ in range(2):
            with pytest.raises(RateLimitedError) as caught:
                await chat.send(request())
            assert caught.value.retry_after == 1.0
        await chat.send(request())

    run_virtual(main())
    assert (chat.calls, chat.served, dict(chat.faults)) == (3, 1, {FaultKind.RATE_LIMIT: 2})
    assert chat.used.calls == 1


def test_who_fails_does_not_depend_on_the_order_of_arrival() -> None:
    async def failing(texts: list[str]) -> set[str]:
        chat = ScriptedChat("echo", faults=FaultPlan.random(3, 0.5))
        ends = await asyncio.gather(*(chat.send(request(text)) for text in texts), return_exceptions=True)
        return {text for text, end in zip(texts, ends, strict=True) if isinstance(end, ProviderError)}

    texts = [f"t{number}" for number in range(40)]
    failed = run_virtual(failing(texts))
    assert 5 < len(failed) < 35
    assert failed == run_virtual(failing(texts[::-1]))


@pytest.mark.parametrize("kind", [FaultKind.HANG, FaultKind.HANG_STREAM])
def test_a_hang_ends_at_the_timeout(kind: FaultKind) -> None:
    chat = ScriptedChat("echo", faults=FaultPlan.always(kind), timeout=20.0)

    async def main() -> float:
        with pytest.raises(UnavailableError, match="within 20 s"):
            await chat.send(request())
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == 20.0
    assert chat.in_flight == 0


def test_a_slow_reply_comes_late_and_whole() -> None:
    chat = ScriptedChat("echo", faults=FaultPlan(rate=1.0, kinds=(FaultKind.SLOW,), slow=4.0), latency=1.0)
    reply = run_virtual(chat.send(request()))
    assert (reply.text, reply.seconds, chat.served) == ("hello", 5.0, 1)


@pytest.mark.parametrize(("text", "max_tokens", "error"), [("x" * 41, 10, TruncatedError), ("", 10, EmptyReplyError)])
def test_a_reply_that_is_too_long_or_empty_is_no_reply(text: str, max_tokens: int, error: type[ProviderError]) -> None:
    chat = ScriptedChat("echo")
    with pytest.raises(error):
        run_virtual(chat.send(request(text, max_tokens)))
    assert chat.served == 0


def test_a_brain_can_fail_by_itself() -> None:
    with pytest.raises(UnavailableError):
        run_virtual(ScriptedChat("always-fails").send(request()))


def test_a_chat_from_a_scenario_goes_by_its_role() -> None:
    target = ScriptedChat.from_scenario("echo,latency=1,optimizer_latency=3,kinds=auth,repeats=1")
    optimizer = ScriptedChat.from_scenario("echo,latency=1,optimizer_latency=3", model="opt")
    with pytest.raises(AuthError):
        run_virtual(target.send(request()))
    assert run_virtual(target.send(request())).seconds == 1.0
    assert run_virtual(optimizer.send(request())).seconds == 3.0
    assert target.identity.address == "echo"


@pytest.mark.parametrize("scenario", ["ecco", "echo,rat=1"])
def test_a_scenario_nobody_knows_is_refused(scenario: str) -> None:
    with pytest.raises(UsageError, match="Did you mean"):
        ScriptedChat.from_scenario(scenario)


def test_replies_wait_until_enough_are_together() -> None:
    chat = ScriptedChat.from_scenario("echo,together=3", timeout=9.0)

    async def main() -> tuple[int, type[BaseException] | None]:
        three = await asyncio.gather(*(chat.send(request(str(number))) for number in range(3)))
        (alone,) = await asyncio.gather(chat.send(request("alone")), return_exceptions=True)
        return len(three), type(alone) if isinstance(alone, BaseException) else None

    assert run_virtual(main()) == (3, UnavailableError)


def test_a_brain_may_call_tools_that_were_declared_and_no_others() -> None:
    def caller(conversation: Conversation) -> BrainReply:
        names = [tool.name for tool in conversation.tools] or ["f"]
        return BrainReply(calls=tuple(BrainCall(name=name, arguments="{}") for name in names))

    tool = Tool(name="look_up", description="", parameters="{}")
    asked = ChatRequest(messages=(Message("user", "hello"),), max_tokens=100, tools=(tool,))
    reply = run_virtual(ScriptedChat(caller).send(asked))
    assert (reply.text, reply.finish, [call.name for call in reply.calls]) == ("", "tool", ["look_up"])
    assert reply.calls[0].id
    with pytest.raises(EmptyReplyError):
        run_virtual(ScriptedChat(caller).send(request()))
