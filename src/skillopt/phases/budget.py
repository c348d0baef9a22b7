"""Lets the optimizer decide how many changes a step makes.
Owns how its number is read and what is recorded of the decision; refuses to know schedules: it is told none."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from skillopt.domain.scores import Scoreboard
from skillopt.domain.skill import Patch
from skillopt.kernel.dialogue import Unusable
from skillopt.phases.grade import mean_of
from skillopt.phases.proposals.author import Author, Briefing
from skillopt.phases.proposals.contracts import BudgetReply
from skillopt.phases.recall import recalled
from skillopt.phases.reflect import Graded

_NUMBER = re.compile(r"-?\d+")


class BudgetDecision(msgspec.Struct, frozen=True, kw_only=True):
    """How many changes are to be made: what was answered, what of it could be used, and the reasons given.

    `fallback` says that there was no usable answer, and so nothing is changed; `error` says why.
    """

    budget: int
    raw: int | None
    available: int
    fallback: bool = False
    reasoning: str = ""
    confidence: str = ""
    risk_notes: str = ""
    error: str = ""

    @property
    def clamped(self) -> bool:
        """Tell whether the number answered was cut to what is possible."""
        return self.raw is not None and self.raw != self.budget


async def decide(author: Author, merged: Patch, graded: Sequence[Graded], briefing: Briefing) -> BudgetDecision:
    """Return how many of the proposed changes are made; where nothing is proposed nobody is asked."""
    available = len(merged.changes)
    if not available:
        return BudgetDecision(budget=0, raw=None, available=0)
    sections = [
        *author.about(briefing.skill),
        f"# How the tasks went\n\n{_how_it_went(graded)}",
        *recalled(briefing.memory),
        f"# The {available} proposals\n\n{author.mode.shown(merged.changes, numbered=True)}",
    ]
    reply = await author.ask_one("budget", BudgetReply, author.text("budget"), sections)
    if isinstance(reply, Unusable):
        error = f"{reply.kind}: {reply.why}"
        return BudgetDecision(budget=0, raw=None, available=available, fallback=True, error=error)
    raw = whole_number(reply.learning_rate)
    notes = reply.risk_notes
    return BudgetDecision(
        budget=0 if raw is None else max(0, min(raw, available)),
        raw=raw,
        available=available,
        fallback=raw is None,
        reasoning=reply.reasoning,
        confidence="" if reply.confidence is None else str(reply.confidence),
        risk_notes="" if notes is None else notes if isinstance(notes, str) else "\n".join(notes),
        error="" if raw is not None else f"{reply.learning_rate!r} is no number of changes",
    )


def whole_number(said: float | str) -> int | None:
    """Return the whole number that was said, the first one in a text; None when there is none. True is no number."""
    if isinstance(said, bool):
        return None
    if isinstance(said, str):
        found = _NUMBER.search(said)
        return None if found is None else int(found[0])
    return int(said) if said == said // 1 else None


def _how_it_went(graded: Sequence[Graded]) -> str:
    mean = mean_of(Scoreboard(tuple(row for each in graded for row in each.board.rows)))
    if mean.hard is None or mean.soft is None:
        return "No task was graded."
    return f"{mean.n} tasks: hard score {mean.hard:.3f}, soft score {mean.soft:.3f}."
