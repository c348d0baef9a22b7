"""Scripted agents in this process, and the contract of the Agent port."""
