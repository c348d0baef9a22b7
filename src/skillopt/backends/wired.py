"""WiredChat: the Chat port over any dialect and any one endpoint.
Owns what counts as an answer and what it costs; refuses to know wire formats, keys, retries, prompts and skills."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec

from skillopt.backends.connection import Patience, Response
from skillopt.backends.dialects.reply import Bill, Completion, Dialect, Malformed
from skillopt.backends.endpoint import Endpoint
from skillopt.backends.faults import Asked, Complaint, plain, provider_error, read_complaint
from skillopt.backends.settings import ModelSettings, SeeingSettings
from skillopt.domain.chat import ChatRequest, Finish, ModelIdentity, Reply
from skillopt.domain.errors import EmptyReplyError, RefusedError, TruncatedError, UnavailableError
from skillopt.domain.usage import Usage

_TOKENS_PER_MESSAGE = 16
_TOKENS_PER_REQUEST = 64
_TOKENS_PER_EXPLANATION = 2048


Witness = Callable[[bytes], None]


class WiredChat:
    """One model: requests are written and replies read by its dialect, and sent to its endpoint.

    A `witness` is shown the body of every reply as it came, before it is read: for tests and for looking into what a
    provider really said. Nothing else keeps it, and docs/decisions says why.
    """

    def __init__(
        self,
        settings: ModelSettings,
        *,
        identity: ModelIdentity,
        dialect: Dialect,
        endpoint: Endpoint,
        witness: Witness | None = None,
    ) -> None:
        self._settings = settings
        self._witness = witness
        self._image_tokens = settings.image_tokens if isinstance(settings, SeeingSettings) else 0
        self._identity = identity
        self._dialect = dialect
        self._endpoint = endpoint
        self._patience = Patience(settings.timeout, settings.stall_seconds if settings.stream else None)

    @property
    def identity(self) -> ModelIdentity:
        """Who answers; the key is no part of it."""
        return self._identity

    @property
    def timeout(self) -> float:
        """The most seconds a single request may take, connecting included."""
        return self._settings.timeout

    def worst(self, request: ChatRequest) -> Usage:
        """Return the most one attempt can cost: a token is at least one byte, and templates add a few."""
        size = _TOKENS_PER_REQUEST
        for message in request.messages:
            text = message.content
            size += _TOKENS_PER_MESSAGE + (len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")))
        if not request.is_text:
            size += self._beyond_text(request)
        price = self._settings.price
        writes = 0 if price is None or price.cache_write is None or price.cache_write < price.input else size
        return self._usage(
            Bill(input_tokens=size, cached_tokens=0, output_tokens=request.max_tokens, cache_written_tokens=writes)
        )

    async def send(self, request: ChatRequest) -> Reply:
        """Ask once; see the Chat port for what is not an answer."""
        body = self._dialect.body(request)
        loop = asyncio.get_running_loop()
        began = loop.time()
        response = await self._endpoint.ask(body, self._patience)
        seconds = loop.time() - began
        if self._witness is not None:
            self._witness(response.body)
        completion = self._completion(response)
        finish = self._dialect.finishes.get(completion.finish, "unknown")
        if completion.calls and finish in ("stop", "unknown"):
            finish = "tool"  # some servers call a tool and say they just stopped
        self._refuse_non_answers(completion, finish, request)
        bill = completion.bill
        return Reply(
            text=completion.text,
            usage=self.worst(request) if bill is None else self._usage(bill),
            finish=finish,
            model=completion.model,
            request_id=response.header("x-request-id") or response.header("request-id") or completion.id,
            seconds=seconds,
            reasoning_tokens=None if bill is None else bill.reasoning_tokens,
            calls=completion.calls,
        )

    async def close(self) -> None:
        """Let go of connections."""
        await self._endpoint.close()

    def _completion(self, response: Response) -> Completion:
        """Return what the reply says, or raise for one that is an error, however it is wrapped."""
        if not 200 <= response.status < 300:
            raise provider_error(self._asked(), response, read_complaint(response.body) or Complaint())
        found = self._dialect.read(response.body)
        if isinstance(found, Complaint):
            raise provider_error(self._asked(), response, found)
        if isinstance(found, Malformed):
            raise UnavailableError(
                f"The reply of {self._who} {found.reason}.",
                hint=f"If this goes on, check that the address is that of a {self._dialect.name} server.",
                status=response.status,
            )
        return found

    def _refuse_non_answers(self, completion: Completion, finish: Finish, request: ChatRequest) -> None:
        worded = bool(completion.text) and not completion.text.isspace()
        if (worded or (completion.calls and request.tools)) and finish not in ("filtered", "length"):
            return
        usage = None if completion.bill is None else self._usage(completion.bill)
        if finish == "filtered" or (completion.refusal and not completion.text):
            words = plain(completion.refusal, self._endpoint.secrets)
            said = f": “{words}”" if words else ""
            raise RefusedError(
                f"{self._who} declined to answer{said}.",
                hint="Reword the task or the skill, or leave the task out.",
                usage=usage,
            )
        if finish == "length":
            raise TruncatedError(
                f"The reply of {self._who} stopped at the limit of {request.max_tokens} tokens.",
                hint="Raise max_tokens, or have the model think less if it thinks before it writes.",
                usage=usage,
            )
        ended = plain(completion.finish, self._endpoint.secrets) or "no reason"
        raise EmptyReplyError(
            f"The reply of {self._who} has no text (it ended with: {ended}).",
            hint="If this goes on, check the model and extra_body.",
            usage=usage,
        )

    def _beyond_text(self, request: ChatRequest) -> int:
        """Return the most tokens of what is no text: an image is bounded by the settings, the rest by its bytes.

        Providers explain to the model how to call a tool or to keep to a schema, and bill that, too.
        """
        rest = [(message.calls, message.call_id) for message in request.messages]
        written = msgspec.json.encode((rest, request.schema, request.tools))
        return len(request.images) * self._image_tokens + len(written) + _TOKENS_PER_EXPLANATION

    @property
    def _who(self) -> str:
        return f"{self._settings.model} at {self._endpoint.address}"

    def _asked(self) -> Asked:
        return Asked(model=self._settings.model, address=self._endpoint.address, secrets=self._endpoint.secrets)

    def _usage(self, bill: Bill) -> Usage:
        price = self._settings.price
        cost = 0
        if price is not None:
            cost = price.cost(
                input_tokens=bill.input_tokens,
                cached_tokens=bill.cached_tokens,
                output_tokens=bill.output_tokens,
                cache_written_tokens=bill.cache_written_tokens,
            )
        return Usage(
            calls=1,
            input_tokens=bill.input_tokens,
            cached_tokens=bill.cached_tokens,
            output_tokens=bill.output_tokens,
            nano_usd=cost,
        )
