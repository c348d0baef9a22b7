"""Pruning: taking out of a skill what does nothing, measured on val, with a stated error rate."""
