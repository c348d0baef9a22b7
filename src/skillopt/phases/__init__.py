"""The phases of a step, one module each. They know ports only."""
