"""What a gate is held to, whichever procedure decides.
Owns these values; refuses to know the config they come from."""

from __future__ import annotations

import msgspec


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """The terms of a gate: `order` is a permutation of the places of val, the same for every candidate.

    `trials` is how often each task was put to the incumbent, `alpha` what this gate may spend, `wave` how many tasks
    are tried before the first peek, and `block` whether a solved task that now fails stops the candidate.
    """

    order: tuple[int, ...]
    trials: int = 3
    alpha: float = 0.05
    wave: int = 8
    block: bool = False
