"""The search: one gate over the text, and for each place it names the rule that decides.

Owns the order of hits and how overlapping finds become one; knows neither formats (`rules`) nor values of the user.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from skillopt.domain.scrub import blocks, contexts, encodings, patterns
from skillopt.domain.scrub.contexts import Found
from skillopt.domain.scrub.rules import RULES, SHAPES
from skillopt.domain.scrub.values import is_jumbled, is_mask, is_shuffled

_MINIMUM_RUN = 20
_SHAPE_LENGTH = 400
_JUDGED = 240
_LONG_PIECE = 12
_OF_PROVIDERS = frozenset({"prefix", "shape"})
_EVERY_SORT = frozenset({"prefix", "shape", "head", "place", "encoded", "percent", "block"})


class _Step(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one hit: the secret, if it was one, and where to go on looking."""

    found: Found | None = None
    encoding: str | None = None
    again: int


def findings(data: bytes) -> Iterator[Found]:
    """Yield every secret of a text that a rule knows, in no order; they may overlap."""
    if b"PRIVATE KEY" in data:
        yield from blocks.key_blocks(data)
    gate = patterns.compiled().gate
    position = 0
    decoded_until = 0
    while hit := gate.search(data, position):
        start, end = hit.span()
        step = _first_step(data, start, end)
        position = max(step.again, start + 1)
        if step.found is not None:
            yield named_by_provider(step.found)
        elif step.encoding is not None and start >= decoded_until:
            found, decoded_until = _decoded(data, start, end, step.encoding)
            if found is not None:
                yield found


def provider_secret(data: bytes) -> Found | None:
    """Return the first secret of a provider's format in a text, or None."""
    block = next(blocks.key_blocks(data), None) if b"PRIVATE KEY" in data else None
    if block is not None:
        return block
    gate = patterns.compiled().gate
    position = 0
    while hit := gate.search(data, position):
        start, end = hit.span()
        step = _first_step(data, start, end, _OF_PROVIDERS)
        position = max(step.again, start + 1)
        if step.found is not None:
            return step.found
    return None


def merged(found: Iterable[Found]) -> list[Found]:
    """Return the finds in order, those that overlap made one; the surest names it."""
    result: list[Found] = []
    for item in sorted(found, key=lambda found: (found.start, -found.end, found.doubt)):
        if not result or item.start >= result[-1].end:
            result.append(item)
            continue
        last = result[-1]
        surest = min(last, item, key=lambda found: found.doubt)
        result[-1] = msgspec.structs.replace(surest, start=last.start, end=max(last.end, item.end))
    return result


def _first_step(data: bytes, start: int, end: int, sorts: frozenset[str] = _EVERY_SORT) -> _Step:
    """Take the first alternative of the gate that fits the hit, as the gate did; only these sorts of alternative."""
    patterned = patterns.compiled()
    for number in sorted(patterned.alternatives.Match(data[start:end])):
        sort, _, index = patterned.names[number].partition(":")
        step = _step(data, start, end, sort, int(index or "0")) if sort in sorts else None
        if step is not None:
            return step
    return _Step(again=start + 1)


def _step(data: bytes, start: int, end: int, sort: str, index: int) -> _Step | None:
    """Decide on a hit as its sort of alternative does; None if, in its surroundings, it is none of that sort."""
    if sort == "prefix":
        return _provider(data, start, end)
    if sort == "shape":
        return _shaped(data, start, end, index)
    if sort in {"head", "place"}:
        outcome = (contexts.after_head if sort == "head" else contexts.at_place)(data, start, end, index)
        return None if outcome is None else _Step(found=outcome[0], again=outcome[1])
    if sort == "encoded":
        return _Step(encoding=sort, again=end)
    if sort == "percent":
        return _Step(encoding=sort, again=start + len("%20"))
    return _Step(again=end)


def _provider(data: bytes, start: int, end: int) -> _Step | None:
    """Try the rules whose prefix stands at `start`."""
    hit = patterns.prefixed().match(data, start, end)
    if hit is None:
        return None
    prefix, begin = hit.group(1), hit.start(1)
    longest = begin + len(prefix)
    for number, rule in patterns.rules_for(prefix):
        match = rule.match(data, begin)
        if match is None:
            continue
        longest = max(longest, match.end())
        value = match.group()
        if not is_mask(_head(value)) and not (RULES[number].weak and _wordy(value)):
            return _Step(found=_found(begin, value, RULES[number].kind), again=match.end())
    return _Step(again=longest)


def _shaped(data: bytes, start: int, end: int, number: int) -> _Step:
    """Search for a shape around its marker."""
    pattern = patterns.shape(number)
    for match in pattern.finditer(data, max(0, start - SHAPES[number].reach), end + _SHAPE_LENGTH):
        if match.end() <= start:
            continue
        group = 1 if pattern.groups else 0
        value = match.group(group)
        if match.start() > end or is_mask(_head(value)) or (SHAPES[number].weak and _wordy(value)):
            break
        return _Step(found=_found(match.start(group), value, SHAPES[number].kind), again=match.end())
    return _Step(again=end)


def _decoded(data: bytes, start: int, end: int, sort: str) -> tuple[Found | None, int]:
    """Decode the run around an encoded mark; if a provider's secret is inside, the whole run is hidden."""
    if sort == "encoded":
        begin, stop = encodings.run_around(data, start, end)
        texts = encodings.decoded_runs(data[begin:stop])
    else:
        begin, stop = encodings.percent_run_around(data, start, end)
        texts = iter((encodings.percent_decoded(data[begin:stop]),))
    if stop - begin < _MINIMUM_RUN:
        return None, stop
    inner = next((inner for inner in map(provider_secret, texts) if inner is not None), None)
    if inner is None:
        return None, stop
    return msgspec.structs.replace(inner, start=begin, end=stop), stop


def named_by_provider(found: Found) -> Found:
    """Give a value found by its context the name of the provider whose format it has."""
    if found.doubt == 0:
        return found
    inner = provider_secret(found.value)
    if inner is None:
        return found
    return msgspec.structs.replace(found, kind=inner.kind, value=inner.value, doubt=0)


def _found(start: int, value: bytes, kind: str) -> Found:
    return Found(start=start, end=start + len(value), kind=kind, value=value, doubt=0)


def _head(value: bytes) -> str:
    return value[:_JUDGED].decode("ascii", "ignore")


def _wordy(value: bytes) -> bool:
    """Say whether what follows a weak prefix is words joined by dashes, not one long drawn piece."""
    pieces = _head(value).replace("_", "-").replace(".", "-").replace("/", "-").split("-")
    long = (piece for piece in pieces if len(piece) >= _LONG_PIECE)
    return not any(any(map(str.isdigit, piece)) or is_shuffled(piece) or is_jumbled(piece) for piece in long)
