"""The journal on disk: one SQLite file per workspace, large bodies beside it, and runs as JSON lines."""
