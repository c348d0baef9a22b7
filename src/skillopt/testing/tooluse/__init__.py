"""Scripted models that use the tools a caller offers, as coding agents do."""
