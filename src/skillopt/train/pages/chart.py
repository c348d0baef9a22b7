"""The drawings of the report: the learning curve, and a score with its interval on a line from 0 to 1.
Owns scales and shapes (a disc is accepted, a cross rejected, a hollow diamond inconclusive, a dash skipped);
refuses to know colours, which belong to the style sheet, and numbers that were not measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

import msgspec

from skillopt.kernel.events import Mean
from skillopt.kernel.view import RunView, StepView
from skillopt.train.history import kind_of
from skillopt.train.pages.markup import Html, element

Kind = Literal["accept", "reject", "inconclusive", "skip"]
KINDS: tuple[Kind, ...] = ("accept", "reject", "inconclusive", "skip")
WORDS: Mapping[Kind, str] = MappingProxyType(
    {"accept": "accepted", "reject": "rejected", "inconclusive": "inconclusive", "skip": "nothing to test"}
)

_WIDTH, _HEIGHT = 820.0, 340.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 40.0, 14.0, 14.0, 24.0
_ABOVE_AXIS = 7.0  # where a step without a measurement is marked
_MOST_TICKS = 12
_CROWDED = 120  # steps from which marks are drawn smaller
_SHAPES: tuple[tuple[Kind, str], ...] = (
    ("accept", "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z"),
    ("reject", "M-4.5 -4.5L4.5 4.5M-4.5 4.5L4.5 -4.5"),
    ("inconclusive", "M0 -6L6 0L0 6L-6 0z"),
    ("skip", "M-4 0H4"),
)


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate on the curve; `value` is None where nothing was measured."""

    step: int
    kind: Kind
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0


class Level(msgspec.Struct, frozen=True, kw_only=True):
    """The incumbent's score from after one step until after the next."""

    step: int
    value: float | None
    low: float | None = None
    high: float | None = None


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """All that the learning curve shows."""

    metric: str
    points: tuple[Point, ...]
    levels: tuple[Level, ...]


def shape_of(action: str) -> Kind:
    """Return which of the shapes stands for a step's action."""
    for kind in KINDS:
        if kind == kind_of(action):
            return kind
    raise ValueError(f"No shape stands for the action {action!r}.")


def shapes() -> Html:
    """Return the shapes that `mark` refers to; a page holds them once."""
    symbols = (
        element("symbol", element("path", d=path, class_=kind), id=f"mark-{kind}", viewBox="-8 -8 16 16")
        for kind, path in _SHAPES
    )
    return element("svg", *symbols, class_="shapes", width=0, height=0, aria_hidden="true")


def mark(kind: Kind) -> Html:
    """Return a shape to stand in a line of text; the text beside it says the same in a word."""
    return element("svg", element("use", href=f"#mark-{kind}"), class_="mark", viewBox="0 0 16 16", aria_hidden="true")


def whisker(value: float, low: float | None, high: float | None) -> Html:
    """Return a score with its interval on a line from 0 to 1; the numbers beside it say the same."""
    parts = [element("line", x1=4, x2=156, y1=9, y2=9, class_="axis")]
    parts += [element("line", x1=4 + 152 * at, x2=4 + 152 * at, y1=6, y2=12, class_="axis") for at in (0, 0.5, 1)]
    if low is not None and high is not None:
        parts.append(element("line", x1=4 + 152 * low, x2=4 + 152 * high, y1=9, y2=9, class_="range"))
    parts.append(element("circle", cx=4 + 152 * value, cy=9, r=4, class_="dot"))
    return element("svg", *parts, class_="whisker", viewBox="0 0 160 18", aria_hidden="true")


def curve_of(view: RunView) -> Curve:
    """Return the curve of a run's whole steps, in the gate's metric; intervals are known for hard scores only."""
    metric = "hard" if view.began is None else view.began.gate_metric
    baseline = view.score("baseline", "val")
    means = {"initial_skill": None if baseline is None else baseline.mean}
    start = None if baseline is None else {"hard": baseline.mean.hard, "soft": baseline.mean.soft}.get(metric)
    levels = [_level(0, start, means["initial_skill"], metric)]
    points = []
    for step in view.finished_steps:
        if step.gate is not None:
            means[step.gate.origin] = None if step.measured is None else step.measured.mean
        points.append(_point(step, metric))
        if step.ended is not None:
            mean = means.get(step.ended.current_origin)
            levels.append(_level(step.began.step, step.ended.current_score, mean, metric))
    return Curve(metric=metric, points=tuple(points), levels=tuple(levels))


def drawn(curve: Curve) -> Html:
    """Return the learning curve as a picture, with a title and a description for those who do not see it."""
    last = max((level.step for level in curve.levels), default=0)
    plane = _Plane(steps=max(last, 1))
    crowded = last > _CROWDED
    size = 8.0 if crowded else 16.0
    parts = [
        element("title", "Learning curve", id="curve-title"),
        element("desc", _described(curve), id="curve-text"),
        *_axes(plane),
        _ribbon(plane, curve.levels),
        *(_bars(plane, kind, curve.points) for kind in KINDS),
        _staircase(plane, curve.levels),
        *(_drawn_point(plane, point, size) for point in curve.points),
    ]
    box = f"0 0 {_WIDTH:g} {_HEIGHT:g}"
    kind = "curve crowded" if crowded else "curve"
    return element("svg", *parts, class_=kind, viewBox=box, role="img", aria_labelledby="curve-title curve-text")


def _level(step: int, value: float | None, mean: Mean | None, metric: str) -> Level:
    if mean is None or metric != "hard":
        return Level(step=step, value=value)
    return Level(step=step, value=value, low=mean.low, high=mean.high)


def _point(step: StepView, metric: str) -> Point:
    number, gate = step.began.step, step.gate
    kind: Kind = "skip" if gate is None else shape_of(gate.action)
    if step.measured is None or gate is None:
        return Point(step=number, kind=kind, value=None)
    mean = step.measured.mean
    if metric != "hard":
        return Point(step=number, kind=kind, value=gate.candidate, n=mean.n)
    return Point(step=number, kind=kind, value=mean.hard, low=mean.low, high=mean.high, n=mean.n)


class _Plane(msgspec.Struct, frozen=True, kw_only=True):
    """Where steps and scores lie on the picture."""

    steps: int

    def x(self, step: float) -> float:
        return round(_LEFT + (step + 0.25) / (self.steps + 0.75) * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(self, score: float) -> float:
        return round(_HEIGHT - _BOTTOM - score * (_HEIGHT - _TOP - _BOTTOM), 1)


def _axes(plane: _Plane) -> Iterator[Html]:
    for score in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = plane.y(score)
        yield element("line", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=y, y2=y, class_="grid" if score else "axis")
        yield element("text", f"{score:.2f}", x=_LEFT - 8, y=y + 4, class_="tick end")
    for step in _ticks(plane.steps):
        x = plane.x(step)
        yield element("text", str(step) if step else "seed", x=x, y=_HEIGHT - _BOTTOM + 18, class_="tick middle")


def _ticks(steps: int) -> list[int]:
    """Return the steps that are named under the axis: round distances, a dozen at most."""
    distance = next(
        size * 10**power for power in range(9) for size in (1, 2, 5) if steps / (size * 10**power) <= _MOST_TICKS
    )
    return list(range(0, steps + 1, distance))


def _ribbon(plane: _Plane, levels: Sequence[Level]) -> Html:
    """Shade the incumbent's interval, one box for each stretch without a change."""
    boxes = []
    for level, until in _stretches(plane, levels):
        if level.low is not None and level.high is not None:
            left, top, bottom = plane.x(level.step), plane.y(level.high), plane.y(level.low)
            boxes.append(f"M{left:g} {top:g}H{until:g}V{bottom:g}H{left:g}z")
    return element("path", d="".join(boxes), class_="ribbon")


def _staircase(plane: _Plane, levels: Sequence[Level]) -> Html:
    path = ""
    for level, until in _stretches(plane, levels):
        if level.value is not None:
            y = plane.y(level.value)
            path += f"{f'L{plane.x(level.step):g} {y:g}' if path else f'M{plane.x(level.step):g} {y:g}'}H{until:g}"
    return element("path", d=path, class_="incumbent")


def _stretches(plane: _Plane, levels: Sequence[Level]) -> Iterator[tuple[Level, float]]:
    """Yield the levels that differ from the one before, each with where on the picture it ends."""
    kept: list[Level] = []
    for level in levels:
        if not kept or (kept[-1].value, kept[-1].low, kept[-1].high) != (level.value, level.low, level.high):
            kept.append(level)
    for place, level in enumerate(kept):
        is_last = place + 1 == len(kept)
        yield level, _WIDTH - _RIGHT if is_last else plane.x(kept[place + 1].step)


def _bars(plane: _Plane, kind: Kind, points: Sequence[Point]) -> Html:
    """Draw the intervals of all candidates with the same verdict."""
    ends = (
        f"M{plane.x(point.step):g} {plane.y(point.low):g}V{plane.y(point.high):g}"
        for point in points
        if point.kind == kind and point.low is not None and point.high is not None
    )
    return element("path", d="".join(ends), class_=f"bar {kind}")


def _drawn_point(plane: _Plane, point: Point, size: float) -> Html:
    x = plane.x(point.step)
    y = plane.y(0.0) - _ABOVE_AXIS if point.value is None else plane.y(point.value)
    corner = size / 2
    shape = element("use", href=f"#mark-{point.kind}", x=x - corner, y=round(y - corner, 1), width=size, height=size)
    return element("g", element("title", point_words(point)), shape)


def point_words(point: Point) -> str:
    """Return what a point says: the step, what became of it, and its score with interval and n."""
    said = f"Step {point.step}: {WORDS[point.kind]}"
    if point.value is None:
        return said if point.kind == "skip" else f"{said}, not measured"
    interval = "" if point.low is None or point.high is None else f" [{point.low:.2f}, {point.high:.2f}]"
    return f"{said}, {point.value:.3f}{interval} n={point.n}"


def _described(curve: Curve) -> str:
    counts = {kind: sum(1 for point in curve.points if point.kind == kind) for kind in KINDS}
    measured = [level.value for level in curve.levels if level.value is not None]
    if not measured:
        return "Nothing was measured on val."
    return (
        f"The {curve.metric} val score of the incumbent goes from {measured[0]:.3f} to {measured[-1]:.3f} over "
        f"{len(curve.points)} steps: {counts['accept']} accepted, {counts['reject']} rejected, "
        f"{counts['inconclusive']} inconclusive, {counts['skip']} with nothing to test. "
        "The table of steps holds every number."
    )


def legend() -> Html:
    """Return the three verdicts, each with its shape and its word."""
    items = [element("li", mark(kind), f" {WORDS[kind]}") for kind in KINDS]
    line = element("li", element("span", class_="line", aria_hidden="true"), " incumbent, with its 95 % interval")
    return element("ul", *items, line, class_="legend")
