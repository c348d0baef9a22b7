"""CliChat: a model asked once through an agent's program, with its tools off and nothing of anybody's around it.
Owns how a conversation becomes one prompt; refuses images and everything else that a single prompt cannot say."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from skillopt.agents.grounds import Stay
from skillopt.agents.homes import Homes
from skillopt.agents.program import Job
from skillopt.agents.settling import failure
from skillopt.agents.team import SHARE_OF_A_REQUEST, Team
from skillopt.domain.chat import ChatRequest, Message, ModelIdentity, Reply
from skillopt.domain.errors import AgentTimeoutError, EmptyReplyError, RefusedError, UnavailableError
from skillopt.domain.usage import Usage
from skillopt.kernel.boundary import Attributed

AT_ONCE = 8
_HEADING = 16  # bytes that say who said a message
_OWN_WORDS = 8_000  # tokens of the program's own system text, as far as it cannot be taken away
_WHO = {"user": "They said", "assistant": "You said"}


class CliChat:
    """The Chat port over a program; each question is a start of it, so it is slower than its maker's own API."""

    def __init__(self, team: Team, *, at_once: int = AT_ONCE) -> None:
        self._team = team
        self._homes = Homes(team.adapter.lasting)
        self._places = asyncio.Semaphore(at_once)

    @property
    def identity(self) -> ModelIdentity:
        """Who answers, in which version of the program."""
        return self._team.identity(self._team.settings.effort or "")

    @property
    def timeout(self) -> float:
        """The most seconds one question may take."""
        return self._team.settings.timeout

    def worst(self, request: ChatRequest) -> Usage:
        """Return what one question is reserved at: a token is a byte at least, and the program has words of its own."""
        asked = sum(_HEADING + len(message.content.encode("utf-8", "surrogatepass")) for message in request.messages)
        return self._team.reserved(read=asked + _OWN_WORDS, written=request.max_tokens)

    async def send(self, request: ChatRequest) -> Reply:
        """Ask once; what a single prompt cannot say is refused."""
        if not request.is_text:
            raise RefusedError(
                f"{self._team.adapter.name} is asked by one prompt, which has no {' and no '.join(request.wants)}.",
                hint="Choose another backend for this role.",
            )
        async with self._places:
            with (
                Attributed(UnavailableError, f"Asking {self._team.adapter.name}"),
                self._homes.lent() as home,
                tempfile.TemporaryDirectory(prefix="skillopt-asked-", ignore_cleanup_errors=True) as folder,
            ):
                return await self._asked(request, Stay(work=Path(folder), home=home, seconds=self.timeout))

    async def close(self) -> None:
        """Remove the homes."""
        await asyncio.to_thread(self._homes.close)

    async def _asked(self, request: ChatRequest, stay: Stay) -> Reply:
        work, home = self._team.grounds.places(stay)
        job = Job(
            prompt=told(request.messages),
            system="\n\n".join(each.content for each in request.messages if each.role == "system"),
            work=work,
            home=home,
            confined=self._team.grounds.confines,
            model=self._team.model,
            agent=None,
            effort=self._team.settings.effort,
            seconds=self.timeout * SHARE_OF_A_REQUEST,
        )
        ended = await self._team.start(self._team.adapter.command(job), stay, job)
        heard = await asyncio.to_thread(self._team.adapter.heard, ended)
        error = failure(self._team.adapter, ended, heard)
        if isinstance(error, AgentTimeoutError):
            raise UnavailableError(error.message, hint=error.hint, usage=error.usage)
        if error is not None:
            raise error
        if not heard.text.strip():
            raise EmptyReplyError(f"{self._team.adapter.name} answered without a word.", usage=heard.usage)
        return Reply(
            text=heard.text,
            usage=Usage(calls=1) if heard.usage is None else heard.usage,
            model=heard.model,
            request_id=heard.session,
            seconds=ended.finished.seconds,
        )


def told(messages: tuple[Message, ...]) -> str:
    """Return a conversation as one prompt: its only message as it is, or each under who said it."""
    said = [message for message in messages if message.role != "system"]
    if len(said) == 1:
        return said[0].content
    return "\n\n".join(f"# {_WHO[message.role]}\n\n{message.content}" for message in said)
