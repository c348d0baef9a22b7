"""Decides whether a candidate is kept, by the rule of the config; one that changes nothing is decided without a call.
Owns which rule decides when; refuses to know how a skill is measured."""

from __future__ import annotations

import msgspec

from skillopt.domain.evidence.terms import Terms
from skillopt.domain.progress.state import Gated
from skillopt.domain.scores import Metric, MetricName
from skillopt.domain.skill import Candidate
from skillopt.domain.verdicts import Reject
from skillopt.phases.gate.comparing import Compared, Val, compare
from skillopt.phases.gate.published import published
from skillopt.phases.gate.settings import GateSettings


async def gate(settings: GateSettings, val: Val, terms: Terms, candidate: Candidate, compared: Compared) -> Gated:
    """Hold a candidate against the incumbent and the best."""
    if not candidate.changed:
        same = compared.incumbent.board.value(compared.metric)
        return Gated(verdict=Reject(reason="nothing changed", **compared.told(candidate=same)))
    if settings.rule != "paired":
        return await published(settings, val, candidate.skill, compared)
    gated = await compare(settings, val, terms, candidate.skill, compared)
    if gated.finding is None or gated.finding.needed is None:
        return gated
    match settings.small_val:  # nothing was asked: the test itself says that no answer could pass it
        case "strict":
            return await published(settings, val, candidate.skill, compared)
        case "soft":
            soft = msgspec.structs.replace(compared, metric=Metric(name=MetricName.SOFT))
            return await compare(settings, val, terms, candidate.skill, soft)
        case "refuse":
            return gated
