"""Evidence that one text is worse than another by less than a margin, gathered in rounds of paired answers.
Owns that test; refuses to know what was measured. It is exact in any sample size, and may be read after each round."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

_STAKES = ((1.0, 0.5), (0.5, 0.2), (0.25, 0.2), (0.125, 0.1))  # share of the highest stake, and its weight


class NoLoss(msgspec.Struct, frozen=True, kw_only=True):
    """A bet against the claim that the mean loss is at least `margin`.

    A round holds one loss, from -1 to 1, for each task: the score with the one text minus that with the other. If the
    claim is true, the product of 1 + stake × (margin − loss) over a round is 1 or less in the mean, whatever the tasks
    are like (their arithmetic mean is at least their geometric one). So a capital of 1 / alpha is reached, at any
    round, with a probability of at most alpha (Ville). Several stakes share the capital, since the best is not known.
    """

    margin: float
    logs: tuple[float, ...] = (0.0,) * len(_STAKES)

    def __post_init__(self) -> None:
        if not 0.0 < self.margin < 1.0:
            raise ValueError("a margin of loss lies between 0 and 1")

    def after(self, losses: Sequence[float]) -> NoLoss:
        """Return the evidence after one more round."""
        highest = 1.0 / (1.0 - self.margin)
        grown = (
            log + math.fsum(_log(1.0 + share * highest * (self.margin - loss)) for loss in losses)
            for log, (share, _) in zip(self.logs, _STAKES, strict=True)
        )
        return msgspec.structs.replace(self, logs=tuple(grown))

    def shown(self, alpha: float) -> bool:
        """Say whether the claim is refuted, with a chance of at most alpha that it was true."""
        return self.chance <= alpha

    @property
    def chance(self) -> float:
        """The bound on the chance of this much evidence if the claim were true: a p-value that holds at every round."""
        top = max(self.logs)
        if top == -math.inf:
            return 1.0
        capital = math.fsum(weight * math.exp(log - top) for log, (_, weight) in zip(self.logs, _STAKES, strict=True))
        return min(1.0, math.exp(min(0.0, -top - math.log(capital))))


def pairs_needed(margin: float, alpha: float) -> int:
    """Return how many pairs without any loss or gain show that the loss is below the margin."""
    rounds = 1
    evidence = NoLoss(margin=margin).after((0.0,))
    while not evidence.shown(alpha):
        evidence = evidence.after((0.0,))
        rounds += 1
    return rounds


def _log(factor: float) -> float:
    return math.log(factor) if factor > 1e-12 else -math.inf
