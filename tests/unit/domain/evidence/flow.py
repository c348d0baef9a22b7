"""Follows a course with answers from a function: what the tests of the courses share."""

from __future__ import annotations

from collections.abc import Callable

from skillopt.domain.evidence.course import Course, Finding, Wave

Answer = Callable[[int, Wave], float | None]


def followed(course: Course, answer: Answer) -> tuple[Finding, list[Wave]]:
    """Return the finding and the waves that were asked for; `answer` gets a place and its wave."""
    waves: list[Wave] = []
    try:
        wave = next(course)
        while True:
            waves.append(wave)
            wave = course.send(tuple(answer(place, wave) for place in wave.places))
    except StopIteration as end:
        finding: Finding = end.value
        return finding, waves


def calls(waves: list[Wave]) -> int:
    """Return how many trials of the candidate were asked for."""
    return sum(len(wave.places) for wave in waves if wave.side == "candidate")
