"""Answers that are JSON documents, compared value by value along their paths.
Owns the comparison; refuses to mend a document that does not parse."""

from __future__ import annotations

import msgspec

from skillopt.domain.errors import TaskError
from skillopt.domain.scores import Score

_NAMED = 5  # how many paths the feedback names

Path = tuple[str | int, ...]
Leaf = str | int | float | bool | None | tuple[()]


def is_document(text: str) -> bool:
    """Tell whether the text is one JSON document."""
    return _leaves(text) is not None


def same_document(answer: str, references: tuple[str, ...]) -> Score:
    """Return hard 1 when the answer equals a reference as JSON; soft is the share of paths with equal values."""
    given = _leaves(_unfenced(answer))
    if given is None:
        return Score(hard=0.0, soft=0.0, feedback="The answer is not one valid JSON document.")
    scores = [_compared(given, expected) for expected in map(_leaves, references) if expected is not None]
    if not scores:
        raise TaskError("No reference is a JSON document.", hint="Correct the task, or choose another grader.")
    return max(scores, key=lambda score: score.soft)


def _compared(given: dict[Path, Leaf], expected: dict[Path, Leaf]) -> Score:
    paths = given.keys() | expected.keys()
    equal = {path for path in given.keys() & expected.keys() if _same(given[path], expected[path])}
    if len(equal) == len(paths):
        return Score(hard=1.0, soft=1.0)
    wrong = [_shown(path) for path in given if path not in equal]
    missing = len(expected.keys() - given.keys())
    parts = [f"wrong or not expected: {', '.join(wrong[:_NAMED])}"] if wrong else []
    parts += [f"{len(wrong) - _NAMED} more like these"] if len(wrong) > _NAMED else []
    parts += [f"{missing} expected value{'s' if missing > 1 else ''} missing"] if missing else []
    return Score(hard=0.0, soft=len(equal) / len(paths), feedback=f"The JSON differs: {'; '.join(parts)}.")


def _same(given: Leaf, expected: Leaf) -> bool:
    """True and 1 are equal to Python, but not in JSON."""
    return given == expected and isinstance(given, bool) == isinstance(expected, bool)


def _shown(path: Path) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


def _unfenced(answer: str) -> str:
    """Return what a Markdown code fence around the whole answer holds."""
    text = answer.strip()
    if not (text.startswith("```") and text.endswith("```") and "\n" in text):
        return text
    return text[text.index("\n") : -3]


def _leaves(text: str) -> dict[Path, Leaf] | None:
    """Return every value of the document by its path; an empty object or array is a value. None when it is not JSON."""
    try:
        document = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    found: dict[Path, Leaf] = {}
    waiting: list[tuple[Path, object]] = [((), document)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict) and value:
            waiting.extend(((*path, key), inner) for key, inner in reversed(value.items()))
        elif isinstance(value, list) and value:
            waiting.extend(((*path, place), value[place]) for place in reversed(range(len(value))))
        else:
            found[path] = value if isinstance(value, str | int | float | None) else ()
    return found
