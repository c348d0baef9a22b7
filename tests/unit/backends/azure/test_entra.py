"""Tokens: one is asked for at a time, kept until shortly before its end, and sent to Azure over https only."""

from __future__ import annotations

import asyncio
import threading

import msgspec
import pytest

from skillopt.backends.azure.entra import EntraTokens, check_token_host
from skillopt.backends.http import parse_url
from skillopt.domain.errors import AuthError, UsageError


class Ticket(msgspec.Struct, frozen=True):
    token: str
    expires_on: int


class Wall:
    """A clock whose time is set by hand."""

    def __init__(self) -> None:
        self.at = 1000.0

    def now(self) -> float:
        return self.at

    def wall(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("nobody waits for a token's end")


class Desk:
    """Gives out numbered tokens that are good for an hour, and counts who asked in which thread."""

    def __init__(self, wall: Wall) -> None:
        self.wall = wall
        self.threads: list[int] = []

    def get_token(self, scope: str) -> Ticket:
        self.threads.append(threading.get_ident())
        return Ticket(f"{scope}-{len(self.threads)}", int(self.wall.at) + 3600)


class Closed:
    def get_token(self, scope: str) -> Ticket:
        raise RuntimeError("please run az login")


def test_a_token_is_kept_until_shortly_before_its_end() -> None:
    async def scenario() -> None:
        wall = Wall()
        desk = Desk(wall)
        tokens = EntraTokens(desk, "s", wall)
        seen = []
        for at in (1000.0, 2000.0, 4299.0, 4300.0, 4301.0):
            wall.at = at
            seen.append(await tokens.current())
        assert seen == ["s-1", "s-1", "s-1", "s-2", "s-2"]
        assert threading.get_ident() not in desk.threads  # asking may take seconds: never in the loop's own thread

    asyncio.run(scenario())


def test_who_asks_at_the_same_time_shares_the_token() -> None:
    async def scenario() -> None:
        desk = Desk(Wall())
        tokens = EntraTokens(desk, "s", desk.wall)
        assert set(await asyncio.gather(*(tokens.current() for _ in range(20)))) == {"s-1"}
        assert len(desk.threads) == 1

    asyncio.run(scenario())


def test_a_login_that_is_missing_ends_the_run_and_says_how_to_log_in() -> None:
    async def scenario() -> None:
        tokens = EntraTokens(Closed(), "s", Wall())
        for _ in range(2):
            with pytest.raises(AuthError, match="please run az login") as caught:
                await tokens.current()
            assert "az login" in str(caught.value.hint)

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "address",
    [
        "https://mine.openai.azure.com",
        "https://mine.cognitiveservices.azure.com",
        "https://mine.services.ai.azure.com",
        "https://mine.openai.azure.us",
    ],
)
def test_azure_hosts_may_have_a_token(address: str) -> None:
    check_token_host(parse_url(address))


@pytest.mark.parametrize(
    "address",
    [
        "http://mine.openai.azure.com",
        "http://127.0.0.1:8000",
        "http://gateway.example.com",
    ],
)
def test_a_token_never_travels_in_the_clear(address: str) -> None:
    with pytest.raises(UsageError, match="unencrypted"):
        check_token_host(parse_url(address), ("gateway.example.com", "127.0.0.1"))


@pytest.mark.parametrize(
    "address",
    [
        "https://openai.azure.com.evil.org",
        "https://mineopenai.azure.com.evil.org",
        "https://evil-openai.azure.com",
        "https://openai.azure.com",
        "https://api.openai.com",
        "https://mine.azure-api.net",
        "https://127.0.0.1",
    ],
)
def test_a_token_never_goes_to_a_foreign_host(address: str) -> None:
    url = parse_url(address)
    with pytest.raises(UsageError, match="not a host of Azure"):
        check_token_host(url, ("gateway.example.com",))
    check_token_host(url, (url.host,))
