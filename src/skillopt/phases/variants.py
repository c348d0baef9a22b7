"""Neutral variants of a skill's text: what a target at temperature 0 is sent instead of the same text again.
Owns their wording, which instructs nothing; every sentence of the skill stays as it is, letter by letter."""

from __future__ import annotations

_PLACES = 3


def variant(text: str, number: int) -> str:
    """Return the variant of this number: 0 is the text itself, and no two numbers give the same text."""
    if not number:
        return text
    sentence = f"This is copy {number} of this page."
    gap = "\n" * (1 + number // 2 % _PLACES)
    if number % 2 or text.startswith("---"):  # front matter stays at the top
        return f"{text}{gap}{sentence}\n"
    return f"{sentence}\n{gap}{text}"
