"""Explaining and pruning: what a person asks about the lines of a skill, answered from a workspace."""
