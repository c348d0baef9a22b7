"""How a gate proceeds: it asks for waves of trials and ends with a finding; answers are sent to it.
Owns these values; refuses to know who measures, and which procedure asks."""

from __future__ import annotations

from collections.abc import Generator
from typing import Literal

import msgspec

from skillopt.domain.evidence.effect import Effect

Kind = Literal["accept", "reject", "inconclusive"]
Procedure = Literal["paths", "values", "signs"]


class Wave(msgspec.Struct, frozen=True, kw_only=True):
    """Trials wanted next: the tasks by their place on val, which trial of the text, and whose text."""

    places: tuple[int, ...]
    trial: int = 0
    side: Literal["candidate", "incumbent"] = "candidate"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What a course came to, with its evidence; None where nothing was computed."""

    kind: Kind
    reason: str
    procedure: Procedure
    look: int = 0
    p: float | None = None
    spent: float = 0.0
    wins: int = 0
    losses: int = 0
    effect: Effect | None = None
    regressed: tuple[int, ...] = ()
    needed: int | None = None


Answers = tuple[float | None, ...]
Course = Generator[Wave, Answers, Finding]
