"""The lab: the strategies that the training loop is given, one module for each part of a step.

Owns which phase does which verb, and the facts told about each; refuses to know adapters and config files.
"""

from skillopt.train.lab.lab import Lab
from skillopt.train.lab.parts import Parts

__all__ = ["Lab", "Parts"]
