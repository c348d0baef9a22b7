"""Azure on the wire: golden addresses and heads, endpoints that stand in for each other, and where a token goes."""

from __future__ import annotations

import asyncio
import json
import ssl
from pathlib import Path

import msgspec
import pytest

from skillopt.backends.azure.chat import AzureSettings, azure_chat
from skillopt.backends.azure.entra import EntraTokens
from skillopt.domain.errors import (
    AuthError,
    NotInstalledError,
    ProviderError,
    RateLimitedError,
    RefusedError,
    UnavailableError,
)
from skillopt.kernel.clock import SystemClock
from skillopt.kernel.ports import Chat
from tests.wire.raw_server import Act, RawServer, reply
from tests.wire.stage import KEY, REQUEST, Stage
from tests.wire.test_http import certificate
from tests.wire.test_openai_responses import response

COMPLETION = {
    "id": "c-1",
    "model": "gpt-4o-2024-08-06",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Hi."},
            "finish_reason": "stop",
            "content_filter_results": {"hate": {"filtered": False, "severity": "safe"}},
        }
    ],
    "prompt_filter_results": [{"prompt_index": 0}],
    "usage": {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13},
}
FINE = Act(reply(json.dumps(COMPLETION).encode(), headers=b"x-request-id: r-1\r\napim-request-id: a-1\r\n"))
RESPONDS = Act(reply(json.dumps(response()).encode()))


def complaint(status: int, code: str, text: str, headers: bytes = b"") -> Act:
    return Act(reply(json.dumps({"error": {"code": code, "message": text}}).encode(), status, headers))


def play(*acts: Act, **settings: object) -> Stage:
    def make(root: str) -> Chat:
        plain = AzureSettings(endpoints=(root,), model="my gpt-4o", api_key="none", timeout=20.0)
        return azure_chat(msgspec.structs.replace(plain, **settings), key=KEY)

    return Stage(make, *acts)


MESSAGES = '[{"role":"system","content":"Be brief."},{"role":"user","content":"Say “hi”."}]'
CHAT = f'{{"model":"my gpt-4o","messages":{MESSAGES},"max_completion_tokens":64}}'
ITEMS = f'{{"model":"my gpt-4o","input":{MESSAGES},"max_output_tokens":64,"store":false}}'


@pytest.mark.parametrize(
    ("settings", "target", "body"),
    [
        ({}, "/openai/v1/chat/completions", CHAT),
        (
            {"api_version": "2024-10-21"},
            "/openai/deployments/my%20gpt-4o/chat/completions?api-version=2024-10-21",
            CHAT,
        ),
        ({"api": "responses"}, "/openai/v1/responses", ITEMS),
        (
            {"api": "responses", "api_version": "2025-04-01-preview"},
            "/openai/responses?api-version=2025-04-01-preview",
            ITEMS,
        ),
    ],
)
def test_the_request_is_these_bytes(settings: dict[str, object], target: str, body: str) -> None:
    stage = play(RESPONDS if "api" in settings else FINE, **settings)
    assert stage.reply().text == "Hi."
    sent = body.encode()
    assert stage.requests == [
        b"POST %b HTTP/1.1\r\n"
        b"host: 127.0.0.1:PORT\r\n"
        b"user-agent: skillopt\r\n"
        b"accept-encoding: identity\r\n"
        b"content-type: application/json\r\n"
        b"api-key: sk-hunter2-hunter2\r\n"
        b"content-length: %d\r\n\r\n" % (target.encode(), len(sent)) + sent
    ]


def test_max_tokens_may_have_its_old_name() -> None:
    stage = play(FINE, max_tokens_field="max_tokens", temperature=0.0, seed=7, reasoning_effort="low")
    stage.reply()
    assert stage.body.endswith(b'"max_tokens":64,"temperature":0.0,"seed":7,"reasoning_effort":"low"}')


@pytest.mark.parametrize(
    ("act", "error", "says"),
    [
        (complaint(401, "401", "Access denied due to invalid subscription key."), AuthError, "denied"),
        (complaint(404, "DeploymentNotFound", "The API deployment does not exist."), RefusedError, "not exist"),
        (complaint(400, "content_filter", "The response was filtered."), RefusedError, "filtered"),
        (complaint(429, "429", "Please retry after 7 seconds.", b"Retry-After: 7\r\n"), RateLimitedError, "retry"),
        (complaint(503, "InternalServerError", "Down."), UnavailableError, "Down"),
    ],
)
def test_what_is_no_answer_is_never_one(act: Act, error: type[ProviderError], says: str) -> None:
    raised = play(act).error()
    assert type(raised) is error
    assert says in str(raised)
    assert KEY not in str(raised)


class Endpoints:
    """A deployment at several servers, and how often each was asked."""

    def __init__(self, *acts: tuple[Act, ...]) -> None:
        self._acts = acts
        self.asked: list[int] = []

    def talk(self, times: int) -> list[str | type[BaseException]]:
        """Ask so often, one after the other, and return what was said or how it failed."""
        return asyncio.run(self._talk(times))

    async def _talk(self, times: int) -> list[str | type[BaseException]]:
        servers = [RawServer(*acts) for acts in self._acts]
        for server in servers:
            await server.__aenter__()
        roots = tuple(f"http://127.0.0.1:{server.port}" for server in servers)
        settings = AzureSettings(endpoints=roots, model="m", api_key="none", timeout=20.0)
        chat = azure_chat(settings, key=KEY)
        said: list[str | type[BaseException]] = []
        for _ in range(times):
            (end,) = await asyncio.gather(chat.send(REQUEST), return_exceptions=True)
            said.append(type(end) if isinstance(end, BaseException) else end.text)
        await chat.close()
        for server in servers:
            await server.__aexit__(None, None, None)
        self.asked = [len(server.requests) for server in servers]
        return said


def test_endpoints_are_asked_in_turn() -> None:
    endpoints = Endpoints((FINE,), (FINE,), (FINE,))
    assert endpoints.talk(9) == ["Hi."] * 9
    assert endpoints.asked == [3, 3, 3]


@pytest.mark.parametrize("fault", [complaint(503, "Down", "Down."), complaint(429, "429", "Slow."), Act(b"", "close")])
def test_an_endpoint_that_fails_rests_and_its_failure_is_one_attempt(fault: Act) -> None:
    endpoints = Endpoints((fault,), (FINE,))
    first, *later = endpoints.talk(9)
    assert first in (UnavailableError, RateLimitedError)
    assert later == ["Hi."] * 8
    assert endpoints.asked == [1, 8]


def test_a_refusal_is_not_the_endpoints_fault() -> None:
    endpoints = Endpoints((complaint(400, "content_filter", "No."),), (FINE,))
    endpoints.talk(4)
    assert endpoints.asked == [2, 2]


def test_when_all_rest_one_is_asked_all_the_same() -> None:
    endpoints = Endpoints((complaint(503, "Down", "Down."), FINE), (complaint(503, "Down", "Down."), FINE))
    assert endpoints.talk(4) == [UnavailableError, UnavailableError, "Hi.", "Hi."]


def test_an_endpoint_that_cannot_be_reached_costs_no_attempt() -> None:
    async def scenario() -> None:
        async with RawServer(FINE) as server, RawServer(FINE) as gone:
            closed = gone.port
            await gone.__aexit__(None, None, None)
            roots = (f"http://127.0.0.1:{closed}", f"http://127.0.0.1:{server.port}")
            chat = azure_chat(AzureSettings(endpoints=roots, model="m", api_key="none", timeout=20.0), key=KEY)
            for _ in range(4):
                assert (await chat.send(REQUEST)).text == "Hi."
            await chat.close()
            assert len(server.requests) == 4

    asyncio.run(scenario())


class Ticket(msgspec.Struct, frozen=True):
    token: str
    expires_on: int


class Anybody:
    """A credential that always has a token."""

    def get_token(self, scope: str) -> Ticket:
        """Return a token that names its scope."""
        return Ticket(f"token-for-{scope.rpartition('/')[2]}", 2**40)


def test_a_token_goes_over_https_as_a_bearer(tmp_path: Path) -> None:
    try:
        pair = asyncio.run(certificate(tmp_path))
    except NotInstalledError:
        pytest.skip("openssl is not on this machine")
    serving = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    serving.load_cert_chain(pair)

    async def scenario() -> None:
        async with RawServer(FINE, tls=serving) as server:
            settings = AzureSettings(
                endpoints=(f"https://127.0.0.1:{server.port}",), model="m", login="default", allow_hosts=("127.0.0.1",)
            )
            trusting = ssl.create_default_context(cafile=str(tmp_path / "crt"))
            tokens = EntraTokens(Anybody(), settings.scope, SystemClock())
            chat = azure_chat(settings, key=tokens, tls=trusting)
            assert (await chat.send(REQUEST)).text == "Hi."
            await chat.close()
            assert b"\r\nauthorization: Bearer token-for-.default\r\n" in server.requests[0]
            assert b"api-key" not in server.requests[0]

    asyncio.run(scenario())
