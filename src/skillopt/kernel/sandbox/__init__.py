"""Where other people's code runs: confined, measured by a self-test before it is trusted, or not at all.

Owns the two tiers (bubblewrap; landlock with seccomp) and what is left of a program after it (nothing);
refuses to know what the code is for.
"""

from skillopt.kernel.sandbox.bubblewrap import HOME_INSIDE, INSIDE, interpreter
from skillopt.kernel.sandbox.confinement import Confinement, Door, Premises, Tier
from skillopt.kernel.sandbox.door import Forwarded, Proxied, Way, opened_door
from skillopt.kernel.sandbox.sandbox import Sandbox
from skillopt.kernel.sandbox.selftest import Probed, find_sandbox, probe

__all__ = [
    "HOME_INSIDE",
    "INSIDE",
    "Confinement",
    "Door",
    "Forwarded",
    "Premises",
    "Probed",
    "Proxied",
    "Sandbox",
    "Tier",
    "Way",
    "find_sandbox",
    "interpreter",
    "opened_door",
    "probe",
]
