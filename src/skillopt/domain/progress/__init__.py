"""The course of a run: which batches, which budgets, where it stands, and what it remembers."""
