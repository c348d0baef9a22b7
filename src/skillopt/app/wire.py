"""Where ports meet adapters: the models of a config, made and posted to the stages of a run.
Owns who is asked at which stage; refuses to know what is asked there."""

from __future__ import annotations

import asyncio

from skillopt.app.config import CliModel, Model, role_at
from skillopt.app.models import at_stage, check_priced, make_chat, samples
from skillopt.app.programs.teams import Programs, find_programs
from skillopt.app.project.prepare import Prepared
from skillopt.environments.command.assessor import CommandAssessor
from skillopt.environments.errands.dataset import wanted_tools
from skillopt.kernel.ports import Agent, Chat
from skillopt.kernel.sandbox import find_sandbox
from skillopt.kernel.work import STAGES, Asker, Staff, Stage


class Crew:
    """The models of a run, by role, and the stages they serve."""

    def __init__(self, prepared: Prepared, programs: Programs = Programs()) -> None:
        models = prepared.config.models
        self._models = {"target": models.target, "optimizer": models.optimizer, "judge": models.judging}
        self._player_at = models.player_at
        self._root = prepared.root
        self._caps = prepared.config.limits.caps
        self._given = prepared.chats
        self._version = prepared.environment.version
        self._programs = programs
        self._chats: list[tuple[str, Model, Chat]] = []
        self.agent = self._agent(prepared)
        self.varied = not samples(at_stage(models.target, "rollout"))
        self.staff = Staff({stage: self._asker(stage) for stage in STAGES})

    async def close(self) -> None:
        """Let go of all connections."""
        agents = () if self.agent is None else (self.agent,)
        await asyncio.gather(*(chat.close() for _, _, chat in self._chats), *(agent.close() for agent in agents))

    def _agent(self, prepared: Prepared) -> Agent | None:
        """Return who is sent on the errands of the environment, if it has any."""
        target = prepared.config.models.target
        if prepared.members.errands is None or not isinstance(target, CliModel):
            return None
        check_priced("target", target, self._caps)
        tools = wanted_tools(prepared.environment.tasks)
        return self._programs.sent(target, prepared.config.agent, prepared.root, tools)

    def _asker(self, stage: Stage) -> Asker:
        player = stage if stage in self._given else self._player_at(stage)
        model = at_stage(self._models[player], stage)
        return Asker(
            verb=stage,
            role=role_at(stage),
            chat=self._chat(player, model),
            max_tokens=model.max_tokens,
            version=self._version if stage == "rollout" else "",
        )

    def _chat(self, player: str, model: Model) -> Chat:
        """Return the chat of this model; stages that change nothing share one."""
        if player in self._given:
            return self._given[player]
        for known, same, chat in self._chats:
            if known == player and same == model:
                return chat
        made = make_chat(player, model, self._caps, self._root, self._programs)
        self._chats.append((player, model, made))
        return made


async def assessor_of(prepared: Prepared) -> CommandAssessor | None:
    """Return who runs the program that grades: one that is allowed, in a sandbox that holds, or nobody."""
    if prepared.program is None:
        return None
    return CommandAssessor(prepared.program, await find_sandbox())


async def programs_of(prepared: Prepared) -> Programs:
    """Return the agent programs of a run, once the person has allowed what they take."""
    for asked in prepared.asked:
        prepared.trust.demand(asked)
    return await find_programs(prepared.config, prepared.root)
