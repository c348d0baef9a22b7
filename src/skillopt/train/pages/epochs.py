"""The report's section on epochs: what looking back on each of them led to.
Owns the table and the words that were written; refuses to know how they were come by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from skillopt.kernel.view import EpochView, RunView
from skillopt.train.pages.markup import Content, Html, element, folded, shortened, table

_HEADINGS = ("Epoch", "Tasks compared", "Slow update", "Why", "Meta skill")
_LONGEST_CELL = 280
_LONGEST_TEXT = 4000
_MOST_ROWS = 100
_WORDS = {
    "regressed": "lost",
    "persistent_fail": "wrong both times",
    "improved": "gained",
    "stable_success": "right both times",
}


def epochs(view: RunView) -> Iterator[Html]:
    """Yield the table of epochs, and what was written for the target and for the optimizer."""
    closed = [epoch for epoch in view.epochs if epoch.ended is not None]
    yield table("What each epoch led to", _HEADINGS, [_row(epoch) for epoch in closed[-_MOST_ROWS:]], kind="epochs")
    for epoch in closed[-_MOST_ROWS:]:
        slow, meta = epoch.slow_update, epoch.meta_skill
        if slow is not None and slow.content:
            yield folded(f"Guidance of epoch {slow.epoch}", element("pre", shortened(slow.content, _LONGEST_TEXT)))
        if meta is not None and meta.content:
            title = f"Advice for the optimizer after epoch {meta.epoch}"
            yield folded(title, element("pre", shortened(meta.content, _LONGEST_TEXT)))


def _row(epoch: EpochView) -> tuple[Content, ...]:
    slow, meta, gate = epoch.slow_update, epoch.meta_skill, epoch.gate
    why = "" if slow is None else (slow.reasoning if gate is None else gate.reason)
    return (
        "" if epoch.ended is None else str(epoch.ended.epoch),
        _compared(epoch),
        "none" if slow is None else slow.action.replace("_", " "),
        shortened(why, _LONGEST_CELL),
        "none" if meta is None else meta.action.replace("_", " "),
    )


def _compared(epoch: EpochView) -> str:
    compared = epoch.compared
    if compared is None:
        return "none"
    counts = Counter(pair.category for pair in compared.pairs)
    told = [f"{counts[category]} {words}" for category, words in _WORDS.items() if counts[category]]
    if compared.left_out:
        told.append(f"{len(compared.left_out)} left out, since a side failed")
    return ", ".join(told)
