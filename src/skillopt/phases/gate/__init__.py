"""The gate: whether a candidate is kept, by the rule of the config.

Owns how verdicts come about from measurements; refuses to know how a skill is measured.
"""

from skillopt.phases.gate.comparing import Compared, Val
from skillopt.phases.gate.gate import gate
from skillopt.phases.gate.settings import GateSettings

__all__ = ["Compared", "GateSettings", "Val", "gate"]
