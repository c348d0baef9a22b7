"""The door to randomness: every draw in skillopt comes from a seed that is written down.
Owns how seeds become generators; refuses to know what is drawn."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable
from typing import TypeVar

import msgspec

Item = TypeVar("Item")
Dice = random.Random


def dice(*parts: object) -> Dice:
    """Return a generator that depends on these plain values only: the same in every process, on every machine.

    The parts are numbers, text, None and tuples of them. 1, 1.0, "1" and True are four different parts.
    """
    written = msgspec.json.encode(parts, order="deterministic")
    return random.Random(int.from_bytes(hashlib.sha256(written).digest()))


def shuffled(items: Iterable[Item], seed: int) -> tuple[Item, ...]:
    """Return the items in the order the published arithmetic gives them for this seed."""
    drawn = list(items)
    random.Random(seed).shuffle(drawn)
    return tuple(drawn)
