"""Ports and the machinery every paid unit goes through. Owns `do`; knows no adapter."""
