"""Files beside the database: bodies too large for a row, who holds a run, and what its holder is about to send."""
