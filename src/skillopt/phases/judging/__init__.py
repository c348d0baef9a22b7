"""Asking a judge model: to mark answers by their rubrics, and to choose blindly between two answers.

Owns what a judge is shown and what its readings come to; refuses to know skills, transcripts and what a mark decides.
"""
