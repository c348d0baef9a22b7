"""skillopt trains the skill document of a frozen LLM agent and keeps only changes that a held-out gate accepts."""

__version__ = "0.1.0"
