"""The settings of judging. Owns the config section; refuses to know who the judge is."""

from __future__ import annotations

from typing import Literal

import msgspec

MOST_REPEATS = 25


class JudgeSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Config section `judge`: how answers to tasks with a rubric are judged; `models.judge` says by whom.

    repeats: How often each answer is judged, at most 25; its mark is the median. From 2 on their agreement is reported.
    mode: `score` marks each answer alone; `pairwise` also compares old and new answers blindly before a change is kept.
    threshold: The mark from which an answer is right, from 0 to 1.
    """

    repeats: int = 1
    mode: Literal["score", "pairwise"] = "score"
    threshold: float = 0.8

    def __post_init__(self) -> None:
        if not 1 <= self.repeats <= MOST_REPEATS:
            raise ValueError(f"judge.repeats must be from 1 to {MOST_REPEATS}")
        if not 0.0 < self.threshold <= 1.0:
            raise ValueError("judge.threshold must be a mark: more than 0, at most 1")
