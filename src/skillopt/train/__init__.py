"""The training loop, its plan and its report. Knows phases and ports only."""
