"""What a run will probably ask, before it asks anything: by phase, by role, in tokens and dollars."""
