"""Configuration, environment door and wiring: where a port meets an adapter."""
