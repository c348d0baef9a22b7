"""Two sets of scores on the same tasks: how they differ, and whether chance alone would do that often.
Owns the exact sign test; refuses to know what is compared. It is for reading results: gates have rules of their own."""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec

_NOISE = 0.05


class Paired(msgspec.Struct, frozen=True, kw_only=True):
    """What the tasks say that both sides have: `p` is how often chance alone parts them at least as far, both ways."""

    n: int
    better: int
    worse: int
    difference: float
    p: float

    def beyond_noise(self, comparisons: int = 1) -> bool:
        """Say whether this is more than noise, at 5 % over all of so many comparisons together."""
        return self.p * comparisons <= _NOISE


def paired(before: Mapping[str, float], after: Mapping[str, float]) -> Paired | None:
    """Return the comparison over the tasks that both have, by id; None when there are none."""
    shared = sorted(before.keys() & after.keys())
    if not shared:
        return None
    differences = [after[task] - before[task] for task in shared]
    better, worse = (sum(1 for each in differences if sign * each > 0) for sign in (1, -1))
    return Paired(
        n=len(shared),
        better=better,
        worse=worse,
        difference=math.fsum(differences) / len(shared),
        p=sign_test(better, worse),
    )


def sign_test(better: int, worse: int) -> float:
    """Return the two-sided p of the exact sign test; tasks that came out the same say nothing."""
    n, few = better + worse, min(better, worse)
    return min(1.0, 2 * sum(math.comb(n, k) for k in range(few + 1)) / (1 << n))
