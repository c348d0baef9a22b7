"""What code of others may bring to a run besides what its port demands."""
