"""Whole runs in the worlds whose truth is known: what they come to, what they cost, and how long they wait."""
