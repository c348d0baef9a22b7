"""Decides whether a candidate is kept: measured on val, compared with the incumbent, by the rule of the config.
Owns the rules by name; refuses to know how a skill is measured."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal, Protocol

import msgspec

from skillopt.domain.progress.state import Gated, Standing
from skillopt.domain.scores import Metric, MetricName, Scoreboard
from skillopt.domain.skill import Candidate, Skill
from skillopt.domain.verdicts import Inconclusive, Reject, Verdict, force, strict

Measure = Callable[[Skill], Awaitable[Scoreboard]]


class GateSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Config section `gate`: when a change is kept.

    rule: `strict` keeps what scores strictly better on val than the skill it started from; `force` keeps everything.
    metric: What is compared: right or wrong, part marks, or a mixture of both.
    weight: The share of part marks in `mixed`, from 0 to 1.
    max_failed: The share of val rollouts that may fail; with more of them the gate is inconclusive.
    """

    rule: Literal["strict", "force"] = "strict"
    metric: Literal["hard", "soft", "mixed"] = "hard"
    weight: float = 0.5
    max_failed: float = 0.1

    def __post_init__(self) -> None:
        if not (0.0 <= self.weight <= 1.0 and 0.0 <= self.max_failed <= 1.0):
            raise ValueError("gate.weight and gate.max_failed are shares: numbers from 0 to 1")

    @property
    def compared(self) -> Metric:
        """The number the gate compares."""
        return Metric(name=MetricName.parse(self.metric), weight=self.weight)


class Rule(Protocol):
    """Decides from three scoreboards."""

    def __call__(
        self, candidate: Scoreboard, current: Scoreboard, best: Scoreboard, metric: Metric, *, calls: int
    ) -> Verdict:
        """Return the verdict."""
        ...


RULES: dict[str, Rule] = {"strict": strict, "force": force}


async def gate(
    settings: GateSettings, measure: Measure, candidate: Candidate, incumbent: Standing, best: Standing
) -> Gated:
    """Measure the candidate and decide; one that changes nothing is decided without a call."""
    metric = settings.compared
    if not candidate.changed:
        value = incumbent.board.value(metric)
        return Gated(
            verdict=Reject(reason="nothing changed", candidate=value, incumbent=value, best=best.board.value(metric))
        )
    board = await measure(candidate.skill)
    calls = len(board.rows)
    if board.failed > settings.max_failed * calls:
        return Gated(
            verdict=Inconclusive(
                reason=f"{board.failed} of {calls} val rollouts failed ({board.cause})",
                candidate=board.value(metric),
                incumbent=incumbent.board.value(metric),
                best=best.board.value(metric),
                n=board.n,
                calls=calls,
            ),
            board=board,
        )
    return Gated(verdict=RULES[settings.rule](board, incumbent.board, best.board, metric, calls=calls), board=board)
