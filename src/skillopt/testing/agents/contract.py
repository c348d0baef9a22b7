"""The contract of the Agent port as a test suite: subclass it, say how to make an agent, and let pytest run it.
Owns what every agent promises; knows no program."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Literal

from skillopt.domain.agency.errands import Errand
from skillopt.domain.chat import Reply
from skillopt.domain.errors import AgentError, AgentTimeoutError, AuthError, ProviderError
from skillopt.domain.skill import Skill
from skillopt.kernel.ports import Agent

Does = Literal["echoes", "says_nothing", "breaks", "hangs", "is_refused"]
_SKILL = Skill.from_text("---\nname: repeat\ndescription: Repeats.\n---\nRepeat what you are told.\n")
_AT_ONCE = 6
_PATIENCE = 30.0
_TURN, _TURNS = 0.001, 30_000

Test = Callable[[Agent], Awaitable[None]]


def errand_to(words: str) -> Errand:
    """Return a small errand that `echoes` answers with the same words."""
    return Errand(instruction=words, skill=_SKILL)


async def outcome(agent: Agent, words: str) -> Reply | BaseException:
    """Return what became of an errand: its answer, or whatever was raised."""
    return (await asyncio.gather(agent.run(errand_to(words)), return_exceptions=True))[0]


class AgentContract:
    """What every Agent must do. Override `make`, and `starts`, `left` or `run` where the defaults do not fit."""

    def make(self, does: Does) -> Agent:
        """Return an agent, whose deadline is a second or few, that does this with its errands.

        `echoes` answers with the instruction; `says_nothing` ends well without an answer; `breaks` gives an answer and
        then ends as a program that broke; `hangs` never ends by itself; `is_refused` has a key that nobody takes.
        """
        raise NotImplementedError

    def starts(self) -> int | None:
        """Return how often the agent that was made last has begun an errand; None where nobody counts."""
        return None

    def left(self) -> tuple[str, ...]:
        """Return what the agent that was made last has left behind: processes, folders, errands under way."""
        return ()

    def run(self, main: Coroutine[object, object, None]) -> None:
        """Run a test; agents in this process do this in virtual time."""
        asyncio.run(main)

    def test_an_answer_says_what_was_done_for_it(self) -> None:
        """An answer has its words, what it used, and a transcript of a program that is named."""

        async def check(agent: Agent) -> None:
            reply = await outcome(agent, "naïve 日本 text")
            assert isinstance(reply, Reply), f"an errand became {reply!r}"
            assert reply.text.strip() == "naïve 日本 text", f"the answer is {reply.text!r}"
            assert reply.usage.calls >= 1, "the run cost no call"
            assert reply.transcript is not None, "nobody knows what was done"
            assert reply.transcript.program, "the transcript names no program"

        self._with_agent("echoes", check)

    def test_identity_is_constant(self) -> None:
        """An answer and a failure leave the identity as it was, and it is never empty."""
        for does in ("echoes", "breaks"):

            async def check(agent: Agent) -> None:
                before = agent.identity
                assert before.backend, "nobody answers"
                await outcome(agent, "one")
                await outcome(agent, "two")
                assert agent.identity == before, f"the identity changed from {before} to {agent.identity}"

            self._with_agent(does, check)

    def test_worst_is_an_upper_bound(self) -> None:
        """No run costs more than `worst` said, in calls, tokens or money."""

        async def check(agent: Agent) -> None:
            for words in ("a", "word " * 50, "日本語" * 30):
                worst, end = agent.worst(errand_to(words)), await outcome(agent, words)
                assert isinstance(end, Reply), f"an errand became {end!r}"
                assert worst.calls >= end.usage.calls, f"{end.usage.calls} calls, at worst {worst.calls}"
                assert worst.tokens >= end.usage.tokens, f"{end.usage} is more than {worst}"
                assert worst.nano_usd >= end.usage.nano_usd, f"{end.usage} costs more than {worst}"

        self._with_agent("echoes", check)

    def test_a_program_that_broke_gave_no_answer(self) -> None:
        """Whatever was said before a program broke is no answer, and the error is the agent's."""
        self._fails("breaks", AgentError)

    def test_nothing_is_no_answer(self) -> None:
        """A run that ends well and empty is a failure."""
        self._fails("says_nothing", AgentError, ProviderError)

    def test_a_run_ends_at_its_deadline(self) -> None:
        """A program that never ends is ended, and that is a failure of its own kind."""
        self._fails("hangs", AgentTimeoutError)

    def test_what_a_provider_refused_is_its_error_and_not_tried_again(self) -> None:
        """A key that nobody takes is not the agent's fault, and is not sent twice."""
        self._fails("is_refused", AuthError)
        starts = self.starts()
        assert starts in {None, 1}, f"one errand was begun {starts} times"

    def test_many_at_once_get_their_own_answers(self) -> None:
        """Errands do not mix."""

        async def check(agent: Agent) -> None:
            words = [f"errand number {number}" for number in range(_AT_ONCE)]
            ends = await asyncio.gather(*(outcome(agent, each) for each in words))
            for each, end in zip(words, ends, strict=True):
                assert isinstance(end, Reply), f"{each!r} became {end!r}"
                assert end.text.strip() == each, f"{each!r} got the answer {end.text!r}"

        self._with_agent("echoes", check)

    def test_a_cancelled_run_is_cancelled_and_leaves_nothing(self) -> None:
        """A cancel ends the run and everything of it."""

        async def check(agent: Agent) -> None:
            before = asyncio.all_tasks()
            running = asyncio.ensure_future(agent.run(errand_to("never")))
            for _ in range(_TURNS):
                await asyncio.sleep(_TURN)
                if self.starts() != 0:
                    break
            running.cancel()
            (end,) = await asyncio.gather(running, return_exceptions=True)
            assert isinstance(end, asyncio.CancelledError), f"a cancelled run became {end!r}"
            assert asyncio.all_tasks() <= before, f"tasks are left: {asyncio.all_tasks() - before}"

        self._with_agent("hangs", check)

    def _fails(self, does: Does, *expected: type[AgentError | ProviderError]) -> None:
        async def check(agent: Agent) -> None:
            try:
                async with asyncio.timeout(_PATIENCE):
                    end = await outcome(agent, "hello")
            except TimeoutError:
                raise AssertionError(f"no end after {_PATIENCE} s") from None
            assert isinstance(end, expected), f"an agent that {does} became {end!r}"

        self._with_agent(does, check)

    def _with_agent(self, does: Does, test: Test) -> None:
        """Run a test on an agent of its own, and see that nothing of it is left when it is closed."""

        async def main() -> None:
            agent = self.make(does)
            try:
                await test(agent)
            finally:
                await agent.close()
            assert not self.left(), f"left behind: {', '.join(self.left())}"

        self.run(main())
