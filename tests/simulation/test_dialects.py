"""The wire format decides nothing: the same training over every dialect, streamed or not, ends in the same bytes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from skillopt.app.project.prepare import prepare
from skillopt.app.session import Interrupt, train_session
from skillopt.app.workspace import opened_journal
from skillopt.kernel.clock import SystemClock
from skillopt.testing.server import ThreadedServer, serve_in_thread
from tests.unit.app.projects import settings, write_project

WAYS: dict[str, dict[str, object]] = {
    "chat": {"backend": "openai"},
    "chat streamed": {"backend": "openai", "stream": True},
    "responses": {"backend": "openai", "api": "responses"},
    "responses streamed": {"backend": "openai", "api": "responses", "stream": True},
    "anthropic": {"backend": "anthropic", "api_key": "none"},
    "anthropic streamed": {"backend": "anthropic", "api_key": "none", "stream": True},
    "azure": {"backend": "azure", "api_key": "none", "api_version": "2024-10-21"},
    "azure in turn": {"backend": "azure", "api_key": "none", "api": "responses"},
}


@pytest.fixture(scope="module")
def server() -> Iterator[ThreadedServer]:
    with serve_in_thread() as running:
        yield running


def never(_interrupt: Interrupt) -> None:
    """Let the run go on to its end."""


def reached(way: str, url: str) -> dict[str, object]:
    """Where a way of asking finds the server."""
    if not way.startswith("azure"):
        return {"base_url": url}
    return {"endpoints": [url, f"{url}/two"] if way == "azure in turn" else [url]}


def trained(folder: Path, server: ThreadedServer, way: str) -> tuple[bytes, bytes]:
    """Train with both models asked this way, a tenth of all attempts failing; return the skill and the history."""
    name = way.replace(" ", "-")
    place = reached(
        way, server.url("rules,rate=0.1,seed=3,repeats=2,retry_after=0,kinds=rate_limit+internal+cut+empty")
    )
    models: dict[str, object] = {
        role: {**WAYS[way], **place, "model": model} for role, model in (("target", "target"), ("optimizer", "opt"))
    }
    config = write_project(folder / name, settings(models=models, retry={"first_wait": 0.0}))

    async def whole() -> None:
        prepared = prepare(config, environ={})
        clock = SystemClock()
        async with opened_journal(prepared.workspace, clock) as journal:
            ended = await train_session(prepared, journal, clock, name="run", observers=(), started=never)
            assert ended.error is None, f"{way}: {ended.error}"

    asyncio.run(whole())
    run = folder / name / ".skillopt" / "runs" / "run"
    return (run / "best_skill.md").read_bytes(), (run / "history.json").read_bytes()


def test_the_wire_format_decides_nothing(tmp_path: Path, server: ThreadedServer) -> None:
    ends = {way: trained(tmp_path, server, way) for way in WAYS}
    assert ends["chat"][0] != (tmp_path / "chat" / "SKILL.md").read_bytes(), "nothing was learned"
    assert {way for way, end in ends.items() if end != ends["chat"]} == set()
