"""What the journal of a workspace says of its runs, read beside whoever writes it."""
