"""What a run will probably cost: calls, tokens and dollars by role, at least, likely and at most.
Owns how sizes and prices turn calls into a bill, and what a cap does to it; refuses to know where they come from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import msgspec

from skillopt.domain.usage import NANO, Caps, Price
from skillopt.train.forecast.bounds import least, most
from skillopt.train.forecast.calls import Setup
from skillopt.train.forecast.course import Begun, Course
from skillopt.train.forecast.pace import Pace
from skillopt.train.forecast.walk import Walked, walk

_THROWS = 8  # of the dice, for each way that a run may go


class Range(msgspec.Struct, frozen=True):
    """A number that is not known yet."""

    low: float
    likely: float
    high: float

    def __add__(self, other: Range) -> Range:
        """Return the sum; as if the extremes came together."""
        return Range(self.low + other.low, self.likely + other.likely, self.high + other.high)

    def __mul__(self, other: Range) -> Range:
        """Return each number multiplied by its own."""
        return Range(self.low * other.low, self.likely * other.likely, self.high * other.high)


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """The tokens of one call: what is read, and what each lesson in the skill adds to it; what is written.

    `least_read` and the others beside it are what a call of a whole run takes on average at least, and at most.
    """

    read: float
    least_read: float
    most_read: float
    lesson: float = 0.0
    written: float
    least_written: float
    most_written: float


class Bill(msgspec.Struct, frozen=True, kw_only=True):
    """What is used by one role, or by all; dollars are null where a price is not known."""

    calls: Range
    input_tokens: Range
    output_tokens: Range
    usd: Range | None


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """Who answers a verb, how large its calls are, and what they cost."""

    role: str
    size: Size
    price: Price | None


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """What is still to be done and paid; `cap` names the cap that will probably end the run first.

    `seconds` are null where nobody knows how long a call takes.
    """

    steps: Range
    verbs: dict[str, Range]
    roles: dict[str, Bill]
    total: Bill
    seconds: Range | None
    cap: str | None


def estimate(
    setup: Setup,
    start: Begun,
    ways: Sequence[Course],
    asked: Mapping[str, Asked],
    left: Caps,
    pace: Pace | None = None,
) -> Estimate:
    """Return the estimate of a run from where it stands, with what is left under its caps; likely is the mean."""
    low, high = least(setup, start), most(setup, start)
    likely = [walk(setup, way, start, number) for way in ways for number in range(_THROWS)]
    verbs = {verb: calls for verb in asked if (calls := _calls(verb, low, likely, high)).high}
    bills = {verb: _bill(calls, _lessons(verb, low, likely, high), asked[verb]) for verb, calls in verbs.items()}
    free = _sum(list(bills.values()))
    seconds = None if pace is None else _seconds(pace, low, likely, high)
    needs = _needs(free, seconds, left)
    share = _share(needs)
    roles = dict.fromkeys(asked[verb].role for verb in verbs)
    return Estimate(
        steps=_spread(low, likely, high, lambda walked: walked.steps),
        verbs=verbs,
        roles={
            role: _scaled(_sum([bill for verb, bill in bills.items() if asked[verb].role == role]), share)
            for role in roles
        },
        total=_scaled(free, share),
        seconds=None if seconds is None else seconds * share,
        cap=next((name for name, (needed, most) in needs.items() if needed.likely > most), None),
    )


def _seconds(pace: Pace, low: Walked, likely: Sequence[Walked], high: Walked) -> Range | None:
    """Return how long it takes; None where one of those that may be asked was never heard."""
    if not all(pace.knows(walked) for walked in (low, *likely, high)):
        return None
    mean = sum(pace.likely(walked) for walked in likely) / len(likely)
    return Range(min(pace.least(low), mean), mean, max(pace.most(high), mean))


def _calls(verb: str, low: Walked, likely: Sequence[Walked], high: Walked) -> Range:
    return _spread(low, likely, high, lambda walked: Counter(walked.calls)[verb])


def _lessons(verb: str, low: Walked, likely: Sequence[Walked], high: Walked) -> Range:
    return _spread(low, likely, high, lambda walked: walked.lessons.get(verb, 0.0))


def _spread(low: Walked, likely: Sequence[Walked], high: Walked, of: Callable[[Walked], float]) -> Range:
    """Return a range whose ends hold what is likely."""
    mean = sum(of(each) for each in likely) / len(likely)
    return Range(min(of(low), mean), mean, max(of(high), mean))


def _bill(calls: Range, lessons: Range, asked: Asked) -> Bill:
    size, price = asked.size, asked.price
    each = Range(size.lesson, size.lesson, size.lesson)
    read = calls * Range(size.least_read, size.read, size.most_read) + lessons * each
    written = calls * Range(size.least_written, size.written, size.most_written)
    usd = None
    if price is not None:
        usd = Range(
            _usd(price, read.low, written.low),
            _usd(price, read.likely, written.likely),
            _usd(price, read.high, written.high),
        )
    return Bill(calls=calls, input_tokens=read, output_tokens=written, usd=usd)


def _usd(price: Price, read: float, written: float) -> float:
    return price.cost(input_tokens=round(read), cached_tokens=0, output_tokens=round(written)) / NANO


def _sum(bills: Sequence[Bill]) -> Bill:
    nothing = Range(0, 0, 0)
    priced = [bill.usd for bill in bills if bill.usd is not None]
    return Bill(
        calls=sum((bill.calls for bill in bills), nothing),
        input_tokens=sum((bill.input_tokens for bill in bills), nothing),
        output_tokens=sum((bill.output_tokens for bill in bills), nothing),
        usd=sum(priced, nothing) if len(priced) == len(bills) else None,
    )


def _scaled(bill: Bill, share: Range) -> Bill:
    return Bill(
        calls=bill.calls * share,
        input_tokens=bill.input_tokens * share,
        output_tokens=bill.output_tokens * share,
        usd=None if bill.usd is None else bill.usd * share,
    )


def _needs(bill: Bill, seconds: Range | None, left: Caps) -> dict[str, tuple[Range, float]]:
    """Return, by the name of each cap, what is needed of it and what is left; what nobody knows is left out."""
    pairs = {
        "calls": (bill.calls, left.calls),
        "tokens": (bill.input_tokens + bill.output_tokens, left.tokens),
        "usd": (bill.usd, left.usd),
        "seconds": (seconds, left.seconds),
    }
    return {name: (needed, most) for name, (needed, most) in pairs.items() if needed is not None and most is not None}


def _share(needs: Mapping[str, tuple[Range, float]]) -> Range:
    """Return the share of the run that fits under its caps, as if every part of it cost the same."""
    low, likely, high = (
        min([1.0, *(most / amount for needed, most in needs.values() if (amount := getattr(needed, end)) > most)])
        for end in ("low", "likely", "high")
    )
    return Range(low, likely, high)
