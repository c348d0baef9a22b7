"""The command line: parses and renders, decides nothing."""
