"""Codex as an agent and as a model: how it is started and what its output and its rollout file say."""
