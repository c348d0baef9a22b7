"""The published rules, strict and forced: all of val is put to the candidate once, and two means are compared.
Owns what is measured for them; refuses to know how sure they are."""

from __future__ import annotations

from typing import Protocol

from skillopt.domain.progress.state import Gated
from skillopt.domain.scores import Metric, Scoreboard
from skillopt.domain.skill import Skill
from skillopt.domain.verdicts import Inconclusive, Verdict, force, strict
from skillopt.phases.gate.comparing import Compared, Val
from skillopt.phases.gate.settings import GateSettings


class Rule(Protocol):
    """Decides from three scoreboards."""

    def __call__(
        self, candidate: Scoreboard, current: Scoreboard, best: Scoreboard, metric: Metric, *, calls: int
    ) -> Verdict:
        """Return the verdict."""
        ...


async def published(settings: GateSettings, val: Val, skill: Skill, compared: Compared) -> Gated:
    """Measure the candidate on all of val and compare."""
    board = await val.whole(skill)
    calls, metric = len(board.rows), compared.metric
    if board.failed > settings.max_failed * calls:
        reason = f"{board.failed} of {calls} val rollouts failed ({board.cause})"
        told = compared.told(candidate=board.value(metric), n=board.n, calls=calls)
        return Gated(verdict=Inconclusive(reason=reason, **told), board=board)
    rule: Rule = force if settings.rule == "force" else strict
    verdict = rule(board, compared.incumbent.board, compared.best.board, metric, calls=calls)
    return Gated(verdict=verdict, board=board)
