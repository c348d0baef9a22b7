"""What the phases between reflection and candidate share: modes, reply contracts, what is shown, what is the same."""
