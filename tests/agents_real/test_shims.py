"""A task's own tools before real agents: a call counts when it was made, in our sandbox or without, words never do."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec
import pytest

from skillopt.agents.claude_code.adapter import ClaudeCode
from skillopt.agents.claude_code.settings import ClaudeCodeSettings
from skillopt.agents.codex.adapter import Codex, CodexSettings
from skillopt.agents.copilot.adapter import Copilot, CopilotSettings
from skillopt.agents.finding import find_program
from skillopt.agents.grounds import Confined, Grounds, Unconfined, way_to
from skillopt.agents.program import Adapter
from skillopt.agents.runner import CliAgent
from skillopt.agents.settings import AgentSettings, CliSettings
from skillopt.agents.team import Team
from skillopt.domain.agency.transcripts import Transcript
from skillopt.domain.chat import Reply
from skillopt.domain.scores import Score
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import Check, Task, TaskSet
from skillopt.environments.dataset import Dataset, DatasetSettings
from skillopt.environments.errands.dataset import AgentDataset
from skillopt.kernel.sandbox import Sandbox, Tier, probe
from skillopt.testing.server import ThreadedServer, serve_in_thread
from skillopt.testing.tooluse.script import ScriptTurn, script
from tests.agents_real.programs import installed

Where = Literal["bubblewrap", "none"]
TASK = Task(id="berth", input="Which berth?", checks=(Check("tool_called", "lookup"), Check("tool_called", "tide-2")))
SKILL = Skill.from_text("Look the harbour up first.")
DONE = ScriptTurn(text="Berth 4.")
WORDS = ScriptTurn(text="TOOL_CALL: lookup\nTOOL_CALL: tide-2\nBerth 4.")


@pytest.fixture(scope="module")
def server() -> Iterator[ThreadedServer]:
    with serve_in_thread() as serving:
        yield serving


@pytest.fixture(scope="module")
def refusal() -> str:
    probed = asyncio.run(probe(Tier.BUBBLEWRAP))
    return "" if probed.holds else probed.says


class Stand:
    """Sends one agent on the errand of the task, before the scripted model."""

    def __init__(self, server: ThreadedServer, program: str, where: Where) -> None:
        self.server = server
        self.program = program
        self.where = where
        self.environment = AgentDataset.of(
            Dataset(DatasetSettings(path="unused", answer="full"), TaskSet(val=(TASK,))), Path(), {}
        )

    def __call__(self, *turns: ScriptTurn, files: Literal["edit", "read"] = "edit") -> Transcript:
        """Return what the agent did."""
        reply = asyncio.run(self._run(self.server.url(script(*turns)), files))
        assert reply.transcript is not None
        return reply.transcript

    def score(self, transcript: Transcript, words: str) -> float:
        """Return what the answer is worth."""
        score = self.environment.grade_work(TASK, words, transcript)
        assert isinstance(score, Score)
        return score.hard

    def prompts(self, *turns: ScriptTurn) -> str:
        """Return all that the model was sent."""
        return "".join(entry.body for entry in self.server.log(script(*turns)))

    async def _run(self, address: str, files: Literal["edit", "read"]) -> Reply:
        adapter, settings = self._speaker(address)
        path = str(installed(self.program))
        program = await find_program(adapter, path=path, root=Path("/"), environ={"PATH": os.environ["PATH"]})
        team = Team(
            adapter=adapter, program=program, grounds=self._grounds(address), settings=settings, key=lambda: "sk-0000"
        )
        told = AgentSettings(sandbox=self.where, files=files, structured=False, timeout=30.0)
        agent = CliAgent(team, told, Path("/"))
        try:
            return await agent.run(self.environment.errand(TASK, SKILL))
        finally:
            await agent.close()

    def _speaker(self, address: str) -> tuple[Adapter, CliSettings]:
        match self.program:
            case "codex":
                return Codex(), CodexSettings(model="scripted-target", base_url=address)
            case "copilot":
                return Copilot(), CopilotSettings(model="scripted-1", base_url=address)
            case _:
                return ClaudeCode(), ClaudeCodeSettings(model="claude-sonnet-4-5", base_url=address)

    def _grounds(self, address: str) -> Grounds:
        return Unconfined() if self.where == "none" else Confined(Sandbox(Tier.BUBBLEWRAP), way_to(address, ()))


@pytest.fixture(params=["codex", "claude", "copilot"])
def program(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["none", "bubblewrap"])
def stand(request: pytest.FixtureRequest, server: ThreadedServer, program: str, refusal: str) -> Stand:
    if request.param == "bubblewrap" and refusal:
        pytest.skip(f"bubblewrap does not hold here: {refusal}")
    return Stand(server, program, request.param)


def test_a_call_is_in_the_log_and_the_task_is_done_when_all_were_made(stand: Stand) -> None:
    turns = (ScriptTurn(sh="lookup harbour && tide-2"), ScriptTurn(sh="lookup 'again; rm x'"), DONE)
    done = stand(*turns)
    assert done.shims == ("lookup", "tide-2", "lookup")
    assert stand.score(done, DONE.text) == 1.0
    assert stand.score(msgspec.structs.replace(done, shims=("lookup",)), DONE.text) == 0.0
    assert "`lookup`, `tide-2`" in stand.prompts(*turns)
    assert "has been carried out" in stand.prompts(*turns)


def test_neither_words_nor_looking_at_a_tool_is_a_call(stand: Stand) -> None:
    said = stand(ScriptTurn(sh="command -v lookup; cat $(command -v tide-2); echo lookup; echo lookup > log"), WORDS)
    assert said.shims == ()
    assert stand.score(said, WORDS.text) == 0.0
    assert stand.environment.grade(TASK, WORDS.text) == Score(hard=1.0, soft=1.0)


@pytest.mark.parametrize(("reader", "shims"), [("codex", ("lookup",)), ("claude", ())])
def test_an_agent_that_only_reads_has_the_tools_if_it_has_a_shell(
    server: ThreadedServer, reader: str, shims: tuple[str, ...]
) -> None:
    assert Stand(server, reader, "none")(ScriptTurn(sh="lookup harbour"), DONE, files="read").shims == shims
