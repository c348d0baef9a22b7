"""Commands about the lines of a skill: where each came from, and which are of no use."""
