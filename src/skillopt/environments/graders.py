"""Measures of an answer against its references, by name.
Owns what counts as right and what is said about a miss, which never quotes a reference;
refuses to know where in a reply the answer stood."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from skillopt.domain.errors import TaskError, UsageError, named
from skillopt.domain.scores import Score
from skillopt.environments.documents import is_document, same_document
from skillopt.environments.wording import apart, collapsed, normalised, spaced

COMMAND = "command"

_NUMBER = re.compile(
    r"(?:(?<![\w)\].])[-+])?"  # a sign, unless it stands between two operands
    r"[$€£¥]?(?<![\w.])"
    r"(?:(?:\d{1,3}(?:,\d{3}(?!\d))+|\d+)(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?",
    re.ASCII,
)
_NOT_DIGITS = str.maketrans("", "", "$€£¥,")
_BRACKETS = " \t\r\n.,:;!?()[]{}<>*_`\"'"
_ANLS_RIGHT = 0.999
_ANLS_CLOSE = 0.5  # half or more of the characters wrong is no similarity at all

_RIGHT = Score(hard=1.0, soft=1.0)
_EMPTY = Score(hard=0.0, soft=0.0, feedback="The answer is empty, or not in the form asked for.")
_OTHER = Score(hard=0.0, soft=0.0, feedback="The answer is not the expected one.")
_TOO_MUCH = Score(
    hard=0.0, soft=0.0, feedback="The right answer is in there, but with other words around it: only it was wanted."
)
_NO_NUMBER = Score(hard=0.0, soft=0.0, feedback="The answer holds no number.")
_TOO_LARGE = Score(hard=0.0, soft=0.0, feedback="The last number of the answer is too large.")
_TOO_SMALL = Score(hard=0.0, soft=0.0, feedback="The last number of the answer is too small.")
_WRONG_NUMBER = Score(hard=0.0, soft=0.0, feedback="The last number of the answer is not the expected one.")
_NO_CHOICE = Score(hard=0.0, soft=0.0, feedback="The answer does not name one of the choices.")
_OTHER_CHOICE = Score(hard=0.0, soft=0.0, feedback="The answer names another choice than the expected one.")

Grade = Callable[[str, tuple[str, ...]], Score]


class Grader(NamedTuple):
    """How answers are measured, and which references can be measured against."""

    grade: Grade
    accepts: Callable[[str], bool]
    wants: str


def grader(name: str) -> Grader:
    """Return the grader of this name."""
    return named("grader", name, {**GRADERS, COMMAND: _BY_PROGRAM})


def exact(answer: str, references: tuple[str, ...]) -> Score:
    """Return 1 when the answer is a reference, but for case, punctuation and spacing."""
    given = normalised(answer)
    if not given:
        return _EMPTY
    expected = [normalised(reference) for reference in references]
    if given in expected:
        return _RIGHT
    framed = f" {given} "
    return _TOO_MUCH if any(f" {one} " in framed for one in expected) else _OTHER


def contains(answer: str, references: tuple[str, ...]) -> Score:
    """Return hard 1 when the answer holds a reference; soft is the share of a reference's words that it holds."""
    given = spaced(answer)
    if not given:
        return _EMPTY
    expected = [spaced(reference) for reference in references]
    if any(one in given for one in expected):
        return _RIGHT
    present = frozenset(given.split())
    share = max((_share(frozenset(one.split()), present) for one in expected), default=0.0)
    found = "only some of its words" if share else "nor any word of it"
    return Score(hard=0.0, soft=share, feedback=f"The answer does not contain the expected text, {found}.")


def number(answer: str, references: tuple[str, ...]) -> Score:
    """Return 1 when the last number of the answer is the last number of a reference."""
    expected = [value for value in map(_last_number, references) if value is not None]
    if not expected:
        raise TaskError("No reference holds a number.", hint="Correct the task, or choose another grader.")
    given = _last_number(answer)
    if given is None:
        return _NO_NUMBER
    if any(math.isclose(given, value, rel_tol=1e-9, abs_tol=1e-12) for value in expected):
        return _RIGHT
    if len(expected) > 1:
        return _WRONG_NUMBER
    return _TOO_LARGE if given > expected[0] else _TOO_SMALL


def f1(answer: str, references: tuple[str, ...]) -> Score:
    """Return hard 1 as `exact` does; soft is the best F1 of the two bags of words."""
    given = normalised(answer)
    if not given:
        return _EMPTY
    expected = [normalised(reference) for reference in references]
    if given in expected:
        return _RIGHT
    words = Counter(given.split())
    overlap = max((_f1(words, Counter(one.split())) for one in expected), default=0.0)
    found = "some words" if overlap else "no word"
    return Score(hard=0.0, soft=overlap, feedback=f"The answer has {found} of the expected one, and is not the same.")


def choice(answer: str, references: tuple[str, ...]) -> Score:
    """Return 1 when the answer names the label of a reference, such as B, or is its text."""
    given = normalised(answer)
    if not given:
        return _EMPTY
    named = False
    for reference in references:
        expected = _bare_label(reference)
        if given == normalised(reference):
            return _RIGHT
        label = None if expected is None else _label(answer, digits=expected.isdigit())
        if label is not None and label == expected:
            return _RIGHT
        named = named or label is not None
    return _OTHER_CHOICE if named else _NO_CHOICE


def anls(answer: str, references: tuple[str, ...]) -> Score:
    """Return the normalised Levenshtein similarity, 0 from half the characters wrong; hard 1 from 0.999."""
    given = collapsed(answer)
    if not given:
        return _EMPTY
    similarity = max((_similarity(given, collapsed(reference)) for reference in references), default=0.0)
    if similarity >= _ANLS_RIGHT:
        return Score(hard=1.0, soft=similarity)
    close = "close to the expected one, but not the same" if similarity else "not like the expected one"
    return Score(hard=0.0, soft=similarity, feedback=f"The answer is {close}.")


def edit_distance(answer: str, references: tuple[str, ...]) -> Score:
    """Return hard 1 when the answer is a reference, but for case and spacing; soft is 1 − edits / longer length."""
    given = collapsed(answer)
    if not given:
        return _EMPTY
    similarity = max((1 - apart(given, collapsed(reference)) for reference in references), default=0.0)
    if similarity == 1:
        return _RIGHT
    return Score(
        hard=0.0, soft=similarity, feedback=f"The answer is {int(similarity * 100)} % like the expected one, by edits."
    )


def _share(expected: frozenset[str], present: frozenset[str]) -> float:
    return len(expected & present) / len(expected) if expected else 0.0


def _f1(given: Counter[str], expected: Counter[str]) -> float:
    shared = (given & expected).total()
    return 2 * shared / (given.total() + expected.total()) if shared else 0.0


def _last_number(text: str) -> float | None:
    last = None
    for last in _NUMBER.finditer(text.replace("−", "-")):
        pass
    if last is None:
        return None
    value = float(last[0].translate(_NOT_DIGITS))
    return value if math.isfinite(value) else None


def _bare_label(text: str) -> str | None:
    """Return the label when the text is nothing but one: a letter, or a number of at most two digits."""
    bare = text.strip(_BRACKETS)
    is_label = bare.isascii() and ((len(bare) == 1 and bare.isalpha()) or (len(bare) <= 2 and bare.isdigit()))
    return bare.upper() if is_label else None


def _label(answer: str, *, digits: bool) -> str | None:
    """Return the label an answer names: alone, after the word answer, at its start, or last in brackets."""
    bare = _bare_label(answer)
    if bare is not None:
        return bare
    patterns = _DIGIT_LABELS if digits else _LETTER_LABELS
    if said := patterns.said.findall(answer):
        return str(said[-1]).upper()
    if leading := patterns.leading.match(answer):
        return leading[1].upper()
    bracketed = patterns.bracketed.findall(answer)
    return str(bracketed[-1]).upper() if bracketed else None


class _LabelPatterns(NamedTuple):
    """Where a label may stand in a longer answer."""

    said: re.Pattern[str]
    leading: re.Pattern[str]
    bracketed: re.Pattern[str]


def _label_patterns(label: str, said: str) -> _LabelPatterns:
    return _LabelPatterns(
        said=re.compile(rf"\b(?i:answer|option|choice|boxed)(?i:\s+is)?[^\w\n]{{0,8}}({said})(?!\w)", re.ASCII),
        leading=re.compile(rf"\W{{0,8}}({label})\s?[).:\]]", re.ASCII),
        bracketed=re.compile(rf"[(\[]({label})[)\]]", re.ASCII),
    )


_LETTER_LABELS = _label_patterns("[A-Za-z]", "[A-Z]")  # "the answer is a dog" names no choice
_DIGIT_LABELS = _label_patterns(r"\d{1,2}", r"\d{1,2}")


def _similarity(given: str, expected: str) -> float:
    longer = max(len(given), len(expected))
    if 2 * abs(len(given) - len(expected)) >= longer:
        return 0.0  # the lengths alone settle it
    distance = apart(given, expected)
    return 1 - distance if distance < _ANLS_CLOSE else 0.0


def _any_text(reference: str) -> bool:
    return bool(reference.strip())


def _holds_number(reference: str) -> bool:
    return _last_number(reference) is not None


GRADERS: Mapping[str, Grader] = MappingProxyType(
    {
        "exact": Grader(exact, _any_text, "a text"),
        "contains": Grader(contains, _any_text, "a text"),
        "number": Grader(number, _holds_number, "a text with a number in it"),
        "f1": Grader(f1, _any_text, "a text"),
        "choice": Grader(choice, _any_text, "a label or a text"),
        "json": Grader(same_document, is_document, "a text that is a JSON document"),
        "anls": Grader(anls, _any_text, "a text"),
        "edit_distance": Grader(edit_distance, _any_text, "a text"),
    }
)


def _only_in_a_run(_answer: str, _references: tuple[str, ...]) -> Score:
    """Refuse: a program runs in the sandbox of a run, or not at all."""
    raise UsageError(
        "The grader 'command' is a program, which runs in the sandbox and only during a run.",
        hint="Use `skillopt eval`, or name another grader.",
    )


_BY_PROGRAM = Grader(_only_in_a_run, _any_text, "a text")
