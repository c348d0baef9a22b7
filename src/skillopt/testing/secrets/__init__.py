"""Planted secrets, and lines that only look like them: what a scrubber is measured with, fresh for every seed.

Refuses to know any scrubber, ours included.
"""

from skillopt.testing.secrets.innocent import hard_negatives
from skillopt.testing.secrets.planting import CONTEXT_KINDS, PROVIDER_KINDS, Planted, planted, planted_of

__all__ = ["CONTEXT_KINDS", "PROVIDER_KINDS", "Planted", "hard_negatives", "planted", "planted_of"]
