"""The contract of the Chat port as a test suite: subclass it, say how to make a chat, and let pytest run it.
Owns what every backend promises; knows no backend. Scenarios are those of `skillopt.testing.scenario`.

Give each subclass a scripted server of its own: the server counts attempts, and the suite relies on the first."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Coroutine

from skillopt.domain.chat import ChatRequest, Image, JsonSchema, Message, Reply, Tool
from skillopt.domain.errors import ProviderError, RateLimitedError, RefusedError, UnavailableError
from skillopt.kernel.ports import Chat
from skillopt.testing.faults import FAULTS, FaultKind

_SILENT = frozenset({FaultKind.HANG, FaultKind.HANG_STREAM})
_HELLO = "hello there"
_PIXELS = b"\x89PNG\r\n\x1a\nnobody looks further"
_PIXELS_DIGEST = hashlib.sha256(_PIXELS).hexdigest()
_TOOL = Tool(
    name="mend",
    description="Mends something.",
    parameters=json.dumps(
        {
            "type": "object",
            "properties": {"by": {"type": "string"}},
            "required": ["by"],
            "additionalProperties": False,
        }
    ),
)
_PATIENCE = 5.0
_TURN = 0.001

Test = Callable[[Chat], Awaitable[None]]


def plain_request(text: str = _HELLO) -> ChatRequest:
    """Return a small request that `echo` answers with the same text."""
    return ChatRequest(messages=(Message("system", "Repeat."), Message("user", text)), max_tokens=256)


async def outcome(chat: Chat, request: ChatRequest) -> Reply | BaseException:
    """Return what became of a request: its reply, or whatever was raised."""
    return (await asyncio.gather(chat.send(request), return_exceptions=True))[0]


async def answer(chat: Chat, text: str) -> Reply:
    """Return the reply to a plain request with this text; anything else breaks the promise under test."""
    end = await outcome(chat, plain_request(text))
    assert isinstance(end, Reply), f"{text!r} became {end!r}, not a reply"
    return end


class ChatContract:
    """What every Chat must do. Override `make`, and `run` or `in_flight` where the defaults do not fit."""

    def make(self, scenario: str) -> Chat:
        """Return a chat that asks the scripted model under this scenario, with a timeout of about a second."""
        raise NotImplementedError

    def run(self, main: Coroutine[object, object, None]) -> None:
        """Run a test; in-process chats do this in virtual time."""
        asyncio.run(main)

    def in_flight(self, scenario: str) -> int | None:
        """Return how many requests the model is holding under this scenario; None where nobody counts."""
        del scenario
        return None

    def test_identity_is_constant(self) -> None:
        """A reply and a failure leave the identity as it was."""

        async def check(chat: Chat) -> None:
            before = chat.identity
            await outcome(chat, plain_request())
            await outcome(chat, plain_request())
            assert chat.identity == before, f"the identity changed from {before} to {chat.identity}"

        self._with_chat("echo,kinds=internal,repeats=1,seed=1", check)

    def test_reply_is_whole_and_has_usage(self) -> None:
        """A reply has the text, the finish, the model and what it cost."""

        async def check(chat: Chat) -> None:
            reply = await answer(chat, "naïve 日本 text")
            assert reply.text == "naïve 日本 text", f"the text is {reply.text!r}"
            assert reply.finish == "stop", f"the finish is {reply.finish!r}"
            assert reply.model, "the reply does not say which model answered"
            assert reply.usage.calls == 1, f"one request counts as {reply.usage.calls} calls"
            assert reply.usage.input_tokens > 0, "no input tokens"
            assert reply.usage.output_tokens > 0, "no output tokens"

        self._with_chat("echo,seed=2", check)

    def test_worst_is_an_upper_bound(self) -> None:
        """No reply costs more than `worst` said, in any count."""

        async def check(chat: Chat) -> None:
            for text in ("a", "word " * 50, "é" * 100, "日本語" * 30, "\n".join("- line" for _ in range(20)), "🙂" * 9):
                worst, used = chat.worst(plain_request(text)), (await answer(chat, text)).usage
                assert worst.calls >= used.calls, f"{used.calls} calls, at worst {worst.calls}"
                assert worst.input_tokens >= used.input_tokens, (
                    f"{used.input_tokens} read, {worst.input_tokens} promised"
                )
                assert worst.output_tokens >= used.output_tokens, f"{used} is more than {worst}"
                assert worst.nano_usd >= used.nano_usd, f"{used} costs more than {worst}"

        self._with_chat("echo,seed=3", check)

    def test_every_fault_is_its_provider_error(self) -> None:
        """A fault is never a reply and never a plain exception, and the error says who must act."""
        for kind, facts in FAULTS.items():
            if facts.error is not None and kind not in _SILENT:
                self._check_fault(kind, facts.error)

    def test_rate_limit_says_when_to_come_back(self) -> None:
        """The provider's own word reaches the error."""

        async def check(chat: Chat) -> None:
            error = await outcome(chat, plain_request())
            assert isinstance(error, RateLimitedError), f"a rate limit became {error!r}"
            assert error.retry_after == 7.0, f"retry_after is {error.retry_after}"

        self._with_chat("echo,kinds=rate_limit,retry_after=7,seed=4", check)

    def test_does_not_retry(self) -> None:
        """A failure is handed back at once; the same request then succeeds when it is sent again."""

        async def check(chat: Chat) -> None:
            first = await outcome(chat, plain_request())
            assert isinstance(first, ProviderError), f"the first attempt became {first!r}"
            await answer(chat, _HELLO)

        self._with_chat("echo,kinds=unavailable,repeats=1,seed=5", check)

    def test_slow_is_an_answer(self) -> None:
        """A late reply is a reply."""

        async def check(chat: Chat) -> None:
            await answer(chat, "late")

        self._with_chat("echo,kinds=slow,slow=0.02,seed=6", check)

    def test_silence_ends_at_the_timeout(self) -> None:
        """A provider that says nothing, or stops in the middle, is given up."""

        async def check(chat: Chat) -> None:
            try:
                async with asyncio.timeout(chat.timeout + _PATIENCE):
                    error = await outcome(chat, plain_request())
            except TimeoutError:
                raise AssertionError(f"no end after {chat.timeout} s and {_PATIENCE} more") from None
            assert isinstance(error, UnavailableError), f"silence became {error!r}"

        for kind in sorted(_SILENT):
            self._with_chat(f"echo,kinds={kind},seed=7", check)

    def test_cancelled_send_leaves_nothing_behind(self) -> None:
        """After a cancel no task and no request is left, and the chat still works."""
        scenario = "echo,kinds=hang,repeats=1,seed=8"

        async def check(chat: Chat) -> None:
            before = asyncio.all_tasks()
            sending = asyncio.create_task(chat.send(plain_request()))
            await _until(lambda: self.in_flight(scenario) != 0, chat.timeout / 2)
            sending.cancel()
            ended = (await asyncio.gather(sending, return_exceptions=True))[0]
            assert isinstance(ended, asyncio.CancelledError), f"a cancelled send became {ended!r}"
            await _until(lambda: asyncio.all_tasks() <= before and not self.in_flight(scenario), chat.timeout / 2)
            assert asyncio.all_tasks() <= before, f"tasks are left: {asyncio.all_tasks() - before}"
            assert not self.in_flight(scenario), "the model is still working on it"
            await answer(chat, _HELLO)

        self._with_chat(scenario, check)

    def test_many_at_once(self) -> None:
        """Sends do not queue behind each other, and each gets its own reply."""

        async def check(chat: Chat) -> None:
            texts = [f"question number {number}" for number in range(24)]
            ends = await asyncio.gather(*(outcome(chat, plain_request(text)) for text in texts))
            for text, end in zip(texts, ends, strict=True):
                assert isinstance(end, Reply), f"{text!r} became {end!r}; are sends one at a time?"
                assert end.text == text, f"{text!r} got the reply {end.text!r}"

        self._with_chat("echo,together=24,seed=9", check)

    def test_faults_do_not_spill(self) -> None:
        """Among many sends of which half fail, the others get their own whole replies."""

        async def check(chat: Chat) -> None:
            texts = [f"question number {number}" for number in range(60)]
            ends = await asyncio.gather(*(outcome(chat, plain_request(text)) for text in texts))
            answered = [(text, end) for text, end in zip(texts, ends, strict=True) if isinstance(end, Reply)]
            failed = [end for end in ends if isinstance(end, ProviderError)]
            assert len(answered) + len(failed) == len(texts), f"neither reply nor provider error among {ends}"
            assert answered, "no send was answered"
            assert failed, "no send failed"
            for text, end in answered:
                assert end.text == text, f"{text!r} got the reply {end.text!r}"

        self._with_chat("echo,rate=0.5,seed=10,kinds=rate_limit+internal+cut+garbage+crash+empty+error_body", check)

    def test_images_are_shown_or_refused(self) -> None:
        """The model is shown the bytes themselves, unless the chat says that it takes no images."""

        async def check(chat: Chat) -> None:
            image = Image(media_type="image/png", digest=_PIXELS_DIGEST, fetch=lambda: _PIXELS)
            request = ChatRequest(messages=(Message("user", "What is it?", (image,)),), max_tokens=256)
            end = await self._answered_or_refused(chat, request, "images")
            assert end is None or _PIXELS_DIGEST in end.text, f"the model was shown another image, or none: {end}"

        self._with_chat("handy,seed=12", check)

    def test_tools_are_offered_or_refused(self) -> None:
        """A call of a tool is a reply, though it has no text; a chat that cannot offer tools says so."""

        async def check(chat: Chat) -> None:
            messages = (Message("user", "Use it."),)
            end = await self._answered_or_refused(
                chat, ChatRequest(messages=messages, max_tokens=256, tools=(_TOOL,)), "tools"
            )
            if end is not None:
                assert end.finish == "tool", f"the finish is {end.finish!r}"
                (call,) = end.calls
                assert (call.name, call.id != "") == (_TOOL.name, True), f"the call is {call}"
                assert json.loads(call.arguments) == {"by": "hand"}, f"the arguments are {call.arguments!r}"

        self._with_chat("handy,seed=13", check)

    def test_a_schema_is_taken_or_refused(self) -> None:
        """A chat that cannot hold a model to a schema says so."""

        async def check(chat: Chat) -> None:
            schema = JsonSchema(name="said", definition=_TOOL.parameters)
            request = ChatRequest(messages=(Message("user", _HELLO),), max_tokens=256, schema=schema)
            await self._answered_or_refused(chat, request, "schema")

        self._with_chat("echo,seed=14", check)

    async def _answered_or_refused(self, chat: Chat, request: ChatRequest, feature: str) -> Reply | None:
        """Return the reply; None where the chat refused the feature by name."""
        end = await outcome(chat, request)
        if isinstance(end, RefusedError):
            assert feature in str(end), f"the refusal does not name {feature}: {end}"
            return None
        assert isinstance(end, Reply), f"a request with {feature} became {end!r}"
        worst = chat.worst(request)
        assert worst.input_tokens >= end.usage.input_tokens, f"{end.usage} is more than {worst}"
        return end

    def _check_fault(self, kind: FaultKind, expected: type[ProviderError]) -> None:
        async def check(chat: Chat) -> None:
            end = await outcome(chat, plain_request())
            assert isinstance(end, expected), f"the fault {kind.value!r} became {end!r}, not {expected.__name__}"

        self._with_chat(f"echo,kinds={kind.value},seed=11", check)

    def _with_chat(self, scenario: str, test: Test) -> None:
        """Run a test on a chat of its own, and see that closing it leaves no task."""

        async def main() -> None:
            before = asyncio.all_tasks()
            chat = self.make(scenario)
            try:
                await test(chat)
            finally:
                await chat.close()
            await _until(lambda: asyncio.all_tasks() <= before, _PATIENCE)
            assert asyncio.all_tasks() <= before, f"closing left tasks: {asyncio.all_tasks() - before}"

        self.run(main())


async def _until(happened: Callable[[], bool], seconds: float) -> None:
    """Let the loop turn until something is so, or so long; the caller checks what is so."""
    for _ in range(int(seconds / _TURN)):
        await asyncio.sleep(_TURN)
        if happened():
            return


def broken_promises(suite: object) -> tuple[str, ...]:
    """Run every test of a suite and return the names of those that failed."""
    broken = []
    for name in sorted(name for name in dir(suite) if name.startswith("test_")):
        try:
            getattr(suite, name)()
        except AssertionError:
            broken.append(name)
    return tuple(broken)
