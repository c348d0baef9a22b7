"""The section of the report on the judge: how many answers it marked, and how far it agrees with itself.
Owns the wording; refuses to know who the judge is and what its marks decided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skillopt.domain.judging import Agreement
from skillopt.kernel.events import PairsCompared
from skillopt.train.pages.markup import Html, element, table

_HEADINGS = ("Change", "New preferred", "Old preferred", "Neither", "Of them swayed", "No reply")


def judged(agreement: Agreement, pairs: Sequence[PairsCompared]) -> Iterator[Html]:
    """Yield the words on marks, and the table of comparisons if there were any."""
    marked = f"{agreement.answers:,} answers were marked by the judge"
    lost = (
        f"; {agreement.unscored:,} of them got no usable mark, and count as not measured" if agreement.unscored else ""
    )
    yield element("p", f"{marked}{lost}. {flips(agreement)}")
    if pairs:
        rows = [
            (pair.origin, f"{pair.new:,}", f"{pair.old:,}", f"{pair.neither:,}", f"{pair.swayed:,}", f"{pair.failed:,}")
            for pair in pairs
        ]
        caption = "Old and new answers side by side, unnamed and in both orders, before a change was kept"
        yield table(caption, _HEADINGS, rows, kind="numbers")


def flips(agreement: Agreement) -> str:
    """Return how often the judge contradicts itself, or why that is not known."""
    rate = agreement.flip_rate
    if rate is None:
        return "How far it agrees with itself was not measured; with judge.repeats from 2 on it is."
    return (
        f"Of {agreement.compared:,} answers judged more than once, two judgings differ on right or wrong "
        f"in {rate:.1%} of cases (the judge’s own A/A flip rate)."
    )
