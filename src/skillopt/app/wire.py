"""Where ports meet adapters: the models of a config, made and posted to the stages of a run.
Owns who is asked at which stage; refuses to know what is asked there."""

from __future__ import annotations

import asyncio

from skillopt.app.config import UseRole
from skillopt.app.models import make_chat
from skillopt.app.project.prepare import Prepared
from skillopt.kernel.work import STAGES, Asker, Staff, Stage


class Crew:
    """The models of a run, by role, and the stages they serve."""

    def __init__(self, prepared: Prepared) -> None:
        models, caps = prepared.config.models, prepared.config.limits.caps
        self._chats = {
            "target": make_chat("target", models.target, caps),
            "optimizer": make_chat("optimizer", models.optimizer, caps),
        }
        judge = models.judge
        self._chats["judge"] = self._chats[judge.use] if isinstance(judge, UseRole) else make_chat("judge", judge, caps)
        self._tokens = {
            "target": models.target.max_tokens,
            "optimizer": models.optimizer.max_tokens,
            "judge": models.judging.max_tokens,
        }
        self._version = prepared.environment.version
        self.staff = Staff({stage: self._asker(stage) for stage in STAGES})

    async def close(self) -> None:
        """Let go of all connections."""
        await asyncio.gather(*(chat.close() for chat in set(self._chats.values())))

    def _asker(self, stage: Stage) -> Asker:
        role = _ROLES.get(stage, "optimizer")
        return Asker(
            verb=stage,
            role=role,
            chat=self._chats[role],
            max_tokens=self._tokens[role],
            version=self._version if stage == "rollout" else "",
        )


_ROLES: dict[Stage, str] = {"rollout": "target", "judge": "judge"}
