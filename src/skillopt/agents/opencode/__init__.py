"""OpenCode as an agent and as a model: how it is started, and what its events say."""
