"""Cursor's command line as an agent and as a model: written from its documentation, never run here."""
