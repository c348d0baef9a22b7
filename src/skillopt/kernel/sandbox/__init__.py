"""Where other people's code runs: confined, measured by a self-test before it is trusted, or not at all.

Owns the two tiers (bubblewrap; landlock with seccomp) and what is left of a program after it (nothing);
refuses to know what the code is for.
"""

from skillopt.kernel.sandbox.confinement import Confinement, Tier
from skillopt.kernel.sandbox.sandbox import Sandbox
from skillopt.kernel.sandbox.selftest import Probed, find_sandbox, interpreter, probe

__all__ = ["Confinement", "Probed", "Sandbox", "Tier", "find_sandbox", "interpreter", "probe"]
