"""Texts made comparable, and how far apart they are.
Owns what does not count when wordings are compared; refuses to know which comparison it is for."""

from __future__ import annotations

import string
import unicodedata

# ASCII, Latin-1, general, CJK and full-width punctuation: what keyboards and models produce
_RANGES = (
    *((ord(mark), ord(mark)) for mark in string.punctuation + "¡§«¶·»¿"),
    (0x2010, 0x2027),
    (0x2030, 0x205E),
    (0x3001, 0x3003),
    (0x3008, 0x3011),
    (0x3014, 0x301F),
    (0xFF01, 0xFF0F),
    (0xFF1A, 0xFF20),
    (0xFF3B, 0xFF40),
    (0xFF5B, 0xFF65),
)
_PIECE = 2_000
_MARKS = "".join(chr(code) for first, last in _RANGES for code in range(first, last + 1))
_DROP = str.maketrans("", "", _MARKS)
_SPACE = str.maketrans(_MARKS, " " * len(_MARKS))


def collapsed(text: str) -> str:
    """Return the text in lower case with single spaces."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return " ".join(text.lower().split())


def normalised(text: str) -> str:
    """Return the text in lower case, without punctuation, with single spaces.

    A text that is nothing but punctuation, such as a row of brackets, keeps it: else all such texts would be equal.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    folded = text.lower()
    plain = " ".join(folded.translate(_DROP).split())
    return plain or " ".join(folded.split())


def spaced(text: str) -> str:
    """Return the text as `normalised` does, with punctuation parting words in place of vanishing."""
    folded = collapsed(text)
    return " ".join(folded.translate(_SPACE).split()) or folded


def levenshtein(first: str, second: str) -> int:
    """Return the edit distance: Myers' bit-parallel method, one machine word of big-integer work for 64 characters."""
    if not first or not second:
        return len(first) + len(second)
    everything, last = (1 << len(first)) - 1, 1 << (len(first) - 1)
    places: dict[str, int] = {}
    for place, character in enumerate(first):
        places[character] = places.get(character, 0) | 1 << place
    above, below, distance = everything, 0, len(first)  # cells one more, one less than their upper neighbour
    for character in second:
        equal = places.get(character, 0)
        vertical = equal | below
        horizontal = (((equal & above) + above) ^ above) | equal
        more = below | ~(horizontal | above)
        less = above & horizontal
        distance += bool(more & last) - bool(less & last)
        more = more << 1 | 1
        above = (less << 1 | ~(vertical | more)) & everything
        below = more & vertical & everything
    return distance


def apart(first: str, second: str) -> float:
    """Return the edit distance as a share of the longer text: 0 for equal texts, 1 for texts with nothing in common.

    What both begin and end with is set aside. What is left is compared in pieces of 2,000 characters, side by side: for
    longer differences the distance is an upper bound, and the work grows with the length and not with its square.
    """
    longer, shorter = max(len(first), len(second)), min(len(first), len(second))
    if first == second:
        return 0.0
    pairs = enumerate(zip(first, second, strict=False))
    begin = next((place for place, (one, other) in pairs if one != other), shorter)
    pairs = enumerate(zip(reversed(first[begin:]), reversed(second[begin:]), strict=False))
    end = next((place for place, (one, other) in pairs if one != other), shorter - begin)
    first, second = first[begin : len(first) - end], second[begin : len(second) - end]
    pieces = range(0, max(len(first), len(second)), _PIECE)
    return sum(levenshtein(first[at : at + _PIECE], second[at : at + _PIECE]) for at in pieces) / longer
