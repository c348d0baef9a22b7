"""Answers that are JSON documents, compared value by value along their paths.
Owns the comparison; refuses to mend a document that does not parse."""

from __future__ import annotations

import re

import msgspec

from skillopt.domain.errors import TaskError, UsageError
from skillopt.domain.scores import Score

_NAMED = 5  # how many paths the feedback names

Path = tuple[str | int, ...]
_STEP = re.compile(r"""\.?([^\s.\[\]"'=]+)|\[(-?\d{1,9})\]|\[("(?:[^"\\]|\\.)*")\]""")

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


class Expectation(msgspec.Struct, frozen=True, kw_only=True):
    """What a document is to have at one place: a certain value, or any at all."""

    place: str
    path: Path
    value: dict[Path, Leaf] | None = None

    def met(self, answer: str) -> bool:
        """Tell whether the answer is a document that has it."""
        try:
            found: object = msgspec.json.decode(_unfenced(answer))
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return False
        for step in self.path:
            if isinstance(step, int):
                if not isinstance(found, list) or not -len(found) <= step < len(found):
                    return False
                found = found[step]
            elif not isinstance(found, dict) or step not in found:
                return False
            else:
                found = found[step]
        return self.value is None or _equal(_flattened(found), self.value)


def expectation(text: str) -> Expectation:
    """Return what `orders[0].total == 12.5` expects; without `==` it is enough that something stands there."""
    path: list[str | int] = []
    at = int(text.startswith("$"))
    while step := _STEP.match(text, at):
        name, place, quoted = step.groups()
        path.append(name or (int(place) if place else msgspec.json.decode(quoted, type=str)))
        at = step.end()
    shown, rest = text[:at], text[at:].strip()
    if not path or not (rest.startswith("==") or not rest):
        raise UsageError(
            f"{text!r} is no path into a JSON document.", hint='Write orders[0].total == 12.5, or ["a key"].name.'
        )
    value = _leaves(rest.removeprefix("==")) if rest else None
    if rest and value is None:
        raise UsageError(f"What {text!r} expects is no JSON value.", hint='Write texts in quotes: name == "Ann".')
    return Expectation(place=shown, path=tuple(path), value=value)


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


def _equal(given: dict[Path, Leaf], expected: dict[Path, Leaf]) -> bool:
    return given.keys() == expected.keys() and all(_same(given[path], expected[path]) for path in expected)


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
    """Return every value of the document by its path; None when it is not JSON."""
    try:
        document = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return _flattened(document)


def _flattened(document: object) -> dict[Path, Leaf]:
    """Return every value by its path; an empty object or array is a value."""
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
