"""What a run draws from an epoch, and from slips on the way: guidance, advice and reminders.

Owns how two skills are compared on the same tasks and what the optimizer is asked; refuses to know who keeps it.
"""
