"""The agent programs of a run: found on this machine, and made into the ports that a run asks."""
