"""What is said of the search among several skills, where a run improves more than one.
Owns these events; refuses to know what they add up to."""

from __future__ import annotations

import msgspec

from skillopt.kernel.events.facts import Fact
from skillopt.kernel.events.of_step import CandidateMade


class MemberFact(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One skill of a frontier: its score on val, and on how many val tasks no other member does better."""

    origin: str
    skill_digest: str
    score: float | None
    best_on: int


class FrontierStood(Fact, frozen=True, kw_only=True, tag="frontier_stood"):
    """The skills that are improved side by side, and from which of them a step starts.

    `parent` is its origin; at the end of a run it is empty, and `step` is the last one.
    """

    step: int
    parent: str
    members: tuple[MemberFact, ...]


class FrontierMerged(Fact, frozen=True, kw_only=True, tag="frontier_merged"):
    """What `other` had been taught and `better` had not was put into `better`; a gate under this origin decides next.

    `made` says which of these edits were made, and why the rest was refused.
    """

    origin: str
    better: str
    better_digest: str
    other: str
    other_digest: str
    made: CandidateMade
