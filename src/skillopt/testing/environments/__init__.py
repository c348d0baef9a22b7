"""Environments of one's own: a simulator that uses every optional member, and the contract that all of them keep."""
