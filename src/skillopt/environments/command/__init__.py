"""Grading by a program of the user's: read once, run in the sandbox, one fresh folder for each answer.

Owns what the program is given and how its word is read; refuses to run it anywhere else, and to score its failures.
"""
