"""The scrubber of this machine: the rules, and the values of the person's own secret variables.
Owns where needles come from; refuses to keep or show one."""

from __future__ import annotations

from skillopt.app.environ import variables
from skillopt.domain.scrub import Scrubber, needles_from


def scrubber() -> Scrubber:
    """Return the scrubber for everything that is recorded in this process."""
    return Scrubber(needles_from(variables()))
