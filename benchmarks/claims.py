"""What a benchmark says: a claim's figures, its bar, whether it is met, and on which machine.
Owns the one JSON line; refuses to know how anything is measured."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

Detail = Mapping[str, object]


class Part(msgspec.Struct, frozen=True):
    """One number of a claim with its bar; None says that it could not be measured."""

    label: str
    figure: float | None
    sign: Literal[">=", "<=", "<"]
    bar: float

    @property
    def met(self) -> bool:
        """Whether the figure reaches its bar."""
        if self.figure is None:
            return False
        if self.sign == ">=":
            return self.figure >= self.bar
        return self.figure <= self.bar if self.sign == "<=" else self.figure < self.bar

    @property
    def must(self) -> str:
        """The bar in writing."""
        return f"{self.sign} {self.bar:g}"


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A measured claim; `bar` is its number in the list of numbers to beat, None for one that is not on it."""

    name: str
    bar: int | None
    unit: str
    parts: tuple[Part, ...]
    detail: Detail


class _Machine(msgspec.Struct, frozen=True):
    cores: int
    python: str
    load: tuple[float, float, float]


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """The line that is printed; a claim of several parts has one figure and one bar for each, by label."""

    name: str
    bar: int | None
    figure: float | dict[str, float | None] | None
    unit: str
    must: str | dict[str, str]
    met: bool
    detail: Detail
    machine: _Machine


def line_of(claim: Claim) -> Line:
    """Return what is printed of a claim."""
    parts = claim.parts
    single = len(parts) == 1
    return Line(
        name=claim.name,
        bar=claim.bar,
        figure=_rounded(parts[0].figure) if single else {part.label: _rounded(part.figure) for part in parts},
        unit=claim.unit,
        must=parts[0].must if single else {part.label: part.must for part in parts},
        met=all(part.met for part in parts),
        detail=claim.detail,
        machine=_Machine(cores=len(os.sched_getaffinity(0)), python=platform.python_version(), load=os.getloadavg()),
    )


def tell(claim: Claim) -> None:
    """Print a claim as one line of JSON."""
    sys.stdout.write(msgspec.json.encode(line_of(claim)).decode() + "\n")
    sys.stdout.flush()


def rounded(values: Iterable[float]) -> list[float]:
    """Return the figures of all rounds as they are printed."""
    return [round(value, 4) for value in values]


def _rounded(figure: float | None) -> float | None:
    return None if figure is None else round(figure, 4)
