"""What a run would cost, found out without a request: a dry run as far as the journal carries it, and an estimate."""
