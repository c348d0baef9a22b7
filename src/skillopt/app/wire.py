"""Where ports meet adapters: the models of a config, made and posted to the stages of a run.
Owns who is asked at which stage; refuses to know what is asked there."""

from __future__ import annotations

import asyncio

from skillopt.app.models import make_chat
from skillopt.app.project.prepare import Prepared
from skillopt.kernel.ports import Chat
from skillopt.kernel.work import STAGES, Asker, Staff, Stage


class Crew:
    """The models of a run, by role, and the stages they serve."""

    def __init__(self, prepared: Prepared) -> None:
        models, caps = prepared.config.models, prepared.config.limits.caps
        self._target = make_chat("target", models.target, caps)
        self._optimizer = make_chat("optimizer", models.optimizer, caps)
        self._judge = self._target if models.judge.use == "target" else self._optimizer
        self._tokens: dict[str, int] = {
            "target": models.target.max_tokens,
            "optimizer": models.optimizer.max_tokens,
            "judge": (models.target if models.judge.use == "target" else models.optimizer).max_tokens,
        }
        self._version = prepared.environment.version
        self.staff = Staff({stage: self._asker(stage) for stage in STAGES})

    async def close(self) -> None:
        """Let go of all connections."""
        await asyncio.gather(self._target.close(), self._optimizer.close())

    def _asker(self, stage: Stage) -> Asker:
        role = _ROLES.get(stage, "optimizer")
        chats: dict[str, Chat] = {"target": self._target, "optimizer": self._optimizer, "judge": self._judge}
        return Asker(
            verb=stage,
            role=role,
            chat=chats[role],
            max_tokens=self._tokens[role],
            version=self._version if stage == "rollout" else "",
        )


_ROLES: dict[Stage, str] = {"rollout": "target", "judge": "judge"}
