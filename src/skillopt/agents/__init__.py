"""The agent programs: one declarative adapter each, the workspace they are given, and the two ports they fulfil."""
