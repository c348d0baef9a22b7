"""OpenAIChat: one model behind the `/chat/completions` of any OpenAI-compatible server.
Owns its settings and what counts as an answer; refuses to know retries, prompts, skills and where the key is kept."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import Literal

import msgspec

from skillopt.backends.connection import Patience, Response
from skillopt.backends.faults import Asked, Complaint, plain, provider_error, read_complaint
from skillopt.backends.http import HttpClient, Url, parse_url, request_head
from skillopt.backends.openai_wire import Bill, Completion, Malformed, RequestWriter, read_completion, read_stream
from skillopt.domain.chat import ChatRequest, Finish, ModelIdentity, Reply
from skillopt.domain.errors import EmptyReplyError, RefusedError, TruncatedError, UnavailableError, UsageError
from skillopt.domain.usage import Price, Usage

ApiKey = str | Callable[[], str]
JsonFields = dict[str, object]

_TARGET = "/chat/completions"
_TOKENS_PER_MESSAGE = 16
_TOKENS_PER_REQUEST = 64
_OWN_HEADERS = ("authorization", "content-length", "content-type", "connection", "host", "transfer-encoding")
_OWN_FIELDS = (
    "model",
    "messages",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "seed",
    "reasoning_effort",
    "stream",
    "stream_options",
)
_FINISHES: dict[str, Finish] = {"stop": "stop", "tool_calls": "tool", "function_call": "tool"}


class OpenAISettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One model on one server. The key is no setting: it is given to OpenAIChat and kept nowhere else.

    base_url: The address up to `/v1` or what stands in its place.
    model: The model's name, as the server knows it.
    headers: Further HTTP headers.
    organization: The organization that the provider should charge.
    temperature: Sent where a request leaves it open; null lets the server choose.
    max_tokens: The most tokens of one reply.
    max_tokens_field: The name under which the server takes that number.
    reasoning_effort: How hard a reasoning model should think, in the provider's words.
    seed: Sent where a request leaves it open, for servers that know it.
    extra_body: Further fields of the request, as the server knows them.
    stream: Whether the reply is asked for in pieces.
    timeout: The most seconds one request may take.
    stall_seconds: The longest silence in a stream; without a stream, silence is how a server thinks.
    price: What the model costs; some well-known names have a price of their own.
    alias: What stands for base_url in the journal, so that answers stay good when the address changes.
    """

    base_url: str
    model: str
    headers: dict[str, str] = {}
    organization: str | None = None
    temperature: float | None = None
    max_tokens: int = 4096
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    reasoning_effort: str | None = None
    seed: int | None = None
    extra_body: JsonFields = {}
    stream: bool = False
    timeout: float = 300.0
    stall_seconds: float = 120.0
    price: Price | None = None
    alias: str | None = None

    def __repr__(self) -> str:
        # header values may be secrets
        return f"OpenAISettings(base_url={self.base_url!r}, model={self.model!r}, …)"


def check_key_host(url: Url, own_hosts: tuple[str, ...] = ()) -> None:
    """Refuse to send a key where it does not belong: in the clear beyond this machine, or to a host not its own.

    `own_hosts` are the provider's hosts when the key was found under the provider's usual name; leave it empty when
    the person wrote the key's reference beside this very base_url.
    """
    if url.scheme == "http" and not url.is_loopback:
        raise UsageError(
            f"The key for {url.text} would travel unencrypted, so it is not sent.",
            hint="Use https, or set `api_key: none` if this server needs no key.",
        )
    if own_hosts and url.host not in own_hosts:
        raise UsageError(
            f"The provider's key is for {', '.join(own_hosts)} and is not sent to {url.host}.",
            hint="Name the key for this base_url with `api_key`, or set `api_key: none`.",
        )


class OpenAIChat:
    """The Chat port over the chat-completions dialect; a callable key is asked for at each call."""

    def __init__(
        self, settings: OpenAISettings, *, api_key: ApiKey | None = None, tls: ssl.SSLContext | None = None
    ) -> None:
        self._url = parse_url(settings.base_url)
        if api_key is not None:
            check_key_host(self._url)
        self._settings = settings
        self._api_key = api_key
        self._patience = Patience(settings.timeout, settings.stall_seconds if settings.stream else None)
        self._identity = ModelIdentity(
            backend="openai",
            address=settings.alias or self._url.text,
            model=settings.model,
            sampling=_sampling(settings),
        )
        self._writer = RequestWriter(
            settings.model, max_tokens_field=settings.max_tokens_field, constants=_constants(settings)
        )
        self._client = HttpClient(self._url, tls=tls)
        self._key = ""
        self._head = _head(self._url, settings, "")

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
        return self._usage(Bill(input_tokens=size, cached_tokens=0, output_tokens=request.max_tokens))

    async def send(self, request: ChatRequest) -> Reply:
        """Ask once; see the Chat port for what is not an answer."""
        settings = self._settings
        body = self._writer.body(request, temperature=settings.temperature, seed=settings.seed)
        head = self._current_head()
        loop = asyncio.get_running_loop()
        began = loop.time()
        response = await self._client.request(head, body, self._patience)
        seconds = loop.time() - began
        completion = self._completion(response)
        self._refuse_non_answers(completion, request)
        return Reply(
            text=completion.text,
            usage=self.worst(request) if completion.bill is None else self._usage(completion.bill),
            finish=_FINISHES.get(completion.finish, "unknown"),
            model=completion.model,
            request_id=response.header("x-request-id") or completion.id,
            seconds=seconds,
        )

    async def close(self) -> None:
        """Let go of connections."""
        await self._client.close()

    def _current_head(self) -> bytes:
        if self._api_key is None:
            return self._head
        key = self._api_key if isinstance(self._api_key, str) else self._api_key()
        if not key:
            raise UsageError(
                f"The key for {self._url.text} is empty.", hint="Set it, or write `api_key: none` if none is needed."
            )
        if key != self._key:
            self._head = _head(self._url, self._settings, key)
            self._key = key
        return self._head

    def _completion(self, response: Response) -> Completion:
        """Return what the reply says, or raise for one that is an error, however it is wrapped."""
        if not 200 <= response.status < 300:
            raise provider_error(self._asked(), response, read_complaint(response.body) or Complaint())
        # a server that does not know streams answers in one piece
        streamed = self._settings.stream and response.body.lstrip()[:1] != b"{"
        found = read_stream(response.body) if streamed else read_completion(response.body)
        if isinstance(found, Complaint):
            raise provider_error(self._asked(), response, found)
        if isinstance(found, Malformed):
            raise UnavailableError(
                f"The reply of {self._who} {found.reason}.",
                hint="If this goes on, check that base_url is that of a chat-completions server.",
                status=response.status,
            )
        return found

    def _refuse_non_answers(self, completion: Completion, request: ChatRequest) -> None:
        usage = None if completion.bill is None else self._usage(completion.bill)
        if completion.finish == "content_filter" or (completion.refusal and not completion.text):
            words = plain(completion.refusal, self._asked().secrets)
            said = f": “{words}”" if words else ""
            raise RefusedError(
                f"{self._who} declined to answer{said}.",
                hint="Reword the task or the skill, or leave the task out.",
                usage=usage,
            )
        if completion.finish == "length":
            raise TruncatedError(
                f"The reply of {self._who} stopped at the limit of {request.max_tokens} tokens.",
                hint="Raise max_tokens, or lower reasoning_effort if the model thinks before it writes.",
                usage=usage,
            )
        if not completion.text.strip():
            ended = plain(completion.finish, self._asked().secrets) or "no reason"
            raise EmptyReplyError(
                f"The reply of {self._who} has no text (finish_reason: {ended}).",
                hint="If this goes on, check the model and extra_body.",
                usage=usage,
            )

    @property
    def _who(self) -> str:
        return f"{self._settings.model} at {self._url.text}"

    def _asked(self) -> Asked:
        secrets = (self._key, *self._settings.headers.values())
        return Asked(model=self._settings.model, address=self._url.text, secrets=secrets)

    def _usage(self, bill: Bill) -> Usage:
        price = self._settings.price
        cost = 0
        if price is not None:
            cost = price.cost(
                input_tokens=bill.input_tokens, cached_tokens=bill.cached_tokens, output_tokens=bill.output_tokens
            )
        return Usage(
            calls=1,
            input_tokens=bill.input_tokens,
            cached_tokens=bill.cached_tokens,
            output_tokens=bill.output_tokens,
            nano_usd=cost,
        )


def _head(url: Url, settings: OpenAISettings, key: str) -> bytes:
    clash = sorted(name for name in settings.headers if name.lower() in _OWN_HEADERS)
    if clash:
        raise UsageError(
            f"headers sets {', '.join(clash)}.", hint="Use api_key for the key; the rest is ours to write."
        )
    headers = {"user-agent": "skillopt", "accept-encoding": "identity", "content-type": "application/json"}
    if key:
        headers["authorization"] = f"Bearer {key}"
    if settings.organization is not None:
        headers["openai-organization"] = settings.organization
    return request_head("POST", url, _TARGET, headers | settings.headers)


def _constants(settings: OpenAISettings) -> bytes:
    """Return the fields that are the same in every request, encoded, each after a comma."""
    clash = sorted(name for name in settings.extra_body if name in _OWN_FIELDS)
    if clash:
        raise UsageError(f"extra_body sets {', '.join(clash)}.", hint="Use this model's own settings for these.")
    fields: JsonFields = {}
    if settings.reasoning_effort is not None:
        fields["reasoning_effort"] = settings.reasoning_effort
    if settings.stream:
        fields |= {"stream": True, "stream_options": {"include_usage": True}}
    encoded = msgspec.json.encode(fields | settings.extra_body)[1:-1]
    return b"," + encoded if encoded else b""


def _sampling(settings: OpenAISettings) -> str:
    """Return what changes the answer beyond the request itself, in one spelling."""
    said: JsonFields = {
        "temperature": settings.temperature,
        "seed": settings.seed,
        "max_tokens_field": settings.max_tokens_field,
        "reasoning_effort": settings.reasoning_effort,
        "extra_body": settings.extra_body or None,
    }
    present = {name: value for name, value in said.items() if value is not None}
    return msgspec.json.encode(present, order="deterministic").decode()
