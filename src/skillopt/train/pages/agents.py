"""The section of the report on agents: whether they read the skill, and what stood in their way.
Owns the wording; refuses to know which agents they are and how their answers were graded."""

from __future__ import annotations

from collections.abc import Iterator

from skillopt.domain.agency.conduct import Conduct
from skillopt.train.pages.markup import Html, element


def worked(conduct: Conduct) -> Iterator[Html]:
    """Yield what is known of the runs in words."""
    yield element("p", " ".join(sentences(conduct)))


def sentences(conduct: Conduct) -> Iterator[str]:
    """Yield the sentences: a skill that is not read can teach nothing, so that comes first."""
    known = conduct.opened + conduct.unopened
    yield (
        f"Of agents {conduct.runs:,} answers were used, made with {conduct.tool_calls:,} tool calls; one that is used "
        "twice counts twice."
    )
    if known:
        yield f"They read the skill for {conduct.opened:,} of the {known:,} that tell."
    if conduct.unopened > conduct.opened:
        yield "Where they do not find it by themselves, mend its description, or set agent.skill: told."
    if conduct.denied:
        yield f"{conduct.denied:,} tool calls were denied."
    if conduct.repeated:
        yield f"{conduct.repeated:,} attempts ended without an answer and were begun again."
