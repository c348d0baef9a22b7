"""Which proposals are the same, which are about the same thing, and what support a merged one has.
Owns these three judgements, made by counting words and never by asking; refuses to know prompts and trees.

The same: equal but for case, spacing, list bullets and closing punctuation. Related: acting on the same text of a file,
or sharing a good part of their words. Support: how many minibatches proposed it, counted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from skillopt.domain.skill import Change, Draft, Edit, Patch, Suggestion

_WORD = re.compile(r"\w{3,}")
_SHARED = 0.3  # of the shorter one's words; sentences on different matters share an eighth to a quarter
_WORDS_OF_EVERY_SENTENCE = frozenset(
    [
        "all",
        "always",
        "and",
        "any",
        "are",
        "before",
        "but",
        "can",
        "each",
        "every",
        "for",
        "from",
        "has",
        "have",
        "its",
        "must",
        "never",
        "not",
        "one",
        "only",
        "other",
        "should",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "this",
        "use",
        "was",
        "what",
        "when",
        "where",
        "which",
        "will",
        "with",
        "your",
    ]
)
_WHOLE_DOCUMENT = frozenset({"merge_rules", "reorganize", "compress"})


def identity(change: Change) -> tuple[str, ...]:
    """Return what two changes have in common exactly when they are the same."""
    match change:
        case Edit():
            return (change.op.value, change.file, change.target, _plain(change.content))
        case Suggestion():
            return (change.kind, _plain(change.instruction))
        case Draft():
            return (_plain(change.new_skill),)
        case _:
            raise TypeError(f"{type(change).__name__} has no identity")


def related(one: Change, other: Change) -> bool:
    """Tell whether somebody should look at both: they may contradict each other, or say the same in other words."""
    if isinstance(one, Draft) or isinstance(other, Draft):
        return True
    if isinstance(one, Suggestion) and isinstance(other, Suggestion):
        return bool({one.kind, other.kind} & _WHOLE_DOCUMENT) or _overlap(one.instruction, other.instruction) >= _SHARED
    if isinstance(one, Edit) and isinstance(other, Edit) and one.file == other.file:
        return _meet(one.target, other.target) or _overlap(_said(one), _said(other)) >= _SHARED
    return False


def distinct(patches: Sequence[Patch]) -> tuple[Patch, ...]:
    """Return the patches with each change only where it was proposed first, and there with all of its support."""
    first: dict[tuple[str, ...], Change] = {}
    homes: list[list[tuple[str, ...]]] = []
    for patch in patches:
        home: list[tuple[str, ...]] = []
        for change in patch.changes:
            name = identity(change)
            if name not in first:
                home.append(name)
            first[name] = joined(first[name], change) if name in first else change
        homes.append(home)
    return tuple(patch.having(first[name] for name in home) for patch, home in zip(patches, homes, strict=True))


def joined(first: Change, second: Change) -> Change:
    """Return the first of two equal proposals with the evidence of both; a minibatch counts once."""
    counted_twice = set(first.minibatches) & set(second.minibatches) if first.source == second.source else set()
    return msgspec.structs.replace(
        first,
        support=first.support + second.support - len(counted_twice),
        source="failure" if "failure" in {first.source, second.source} else first.source,
        minibatches=tuple(dict.fromkeys((*first.minibatches, *second.minibatches))),
        tasks=tuple(dict.fromkeys((*first.tasks, *second.tasks))),
    )


def supported(merged: Sequence[Change], inputs: Sequence[Change]) -> tuple[Change, ...]:
    """Return merged changes with the evidence of the inputs they were made of, whatever a reply says about it.

    An input that is said word for word is that change's. Any other goes to the change that shares most words with it;
    a change that shares none with any input has support 0: nobody proposed it.
    """
    named = {identity(change): place for place, change in reversed(list(enumerate(merged)))}
    evidence: list[Change | None] = [None] * len(merged)
    for given in inputs:
        place = named.get(identity(given), _nearest(given, merged))
        if place is not None:
            known = evidence[place]
            evidence[place] = given if known is None else joined(known, given)
    return tuple(_with_evidence(change, found) for change, found in zip(merged, evidence, strict=True))


def _with_evidence(change: Change, found: Change | None) -> Change:
    if found is None:
        return msgspec.structs.replace(change, support=0, source="merged")
    return msgspec.structs.replace(
        change, support=found.support, source=found.source, minibatches=found.minibatches, tasks=found.tasks
    )


def _nearest(given: Change, merged: Sequence[Change]) -> int | None:
    shares = [_overlap(_said(given), _said(change)) + _meet(_quoted(given), _quoted(change)) for change in merged]
    best = max(shares, default=0.0)
    return shares.index(best) if best > 0.0 else None


def _said(change: Change) -> str:
    match change:
        case Edit():
            return change.content or change.target
        case Suggestion():
            return change.instruction
        case Draft():
            return change.new_skill
        case _:
            return ""


def _quoted(change: Change) -> str:
    return change.target if isinstance(change, Edit) else ""


def _plain(text: str) -> str:
    bare = " ".join(line.strip().lstrip("-*•").strip() for line in text.casefold().splitlines())
    return " ".join(bare.split()).rstrip(" .;:,_-")


def _meet(one: str, other: str) -> bool:
    """Two quotations meet when one lies in the other; texts that only touch at their ends are quoted rarely."""
    one, other = one.strip(), other.strip()
    return bool(one and other) and (one in other or other in one)


def _overlap(one: str, other: str) -> float:
    ones, others = _words(one), _words(other)
    shorter = min(len(ones), len(others))
    return len(ones & others) / shorter if shorter else 0.0


def _words(text: str) -> frozenset[str]:
    return frozenset(_stems(_WORD.findall(text.casefold())))


def _stems(words: Iterable[str]) -> Iterable[str]:
    return (word.removesuffix("s") for word in words if word not in _WORDS_OF_EVERY_SENTENCE)
