"""Claude Code as an agent and as a model that is asked once: how it is started, and how its events are read."""
