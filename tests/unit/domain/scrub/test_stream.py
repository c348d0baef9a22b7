"""However a text is cut into chunks, its scrubbed form is the same, and no more is held back than must be."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt.domain.scrub import Scrubber
from skillopt.domain.scrub.blocks import REACH
from skillopt.testing.secrets import planted

SCRUBBER = Scrubber(["needle-value-99"])
BEGIN = "-----BEGIN RSA PRIVATE KEY-----"
END = "-----END RSA PRIVATE KEY-----"
BODY = "MIIEowIBAAKCAQEA1234567890abcdefMIIE"
FRAGMENTS = (
    "\n",
    "\n",
    BEGIN,
    END,
    BODY,
    "-----",
    " ",
    "=",
    '"',
    "\\n",
    "é",
    "日",
    "\ud800",
    "password: hunter2",
    "password=",
    "[SECRET:a:12ab]",
    "sk-ant-api03-",
    "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9b",
    "needle-",
    "value-99",
    "token",
    "Bearer ",
    "://a:",
    "b3c@",
    *(secret.line for secret in planted(5, 150)),
)
TEXTS = st.lists(st.sampled_from(FRAGMENTS), max_size=20).map("".join)


def streamed(text: str, cuts: list[int]) -> str:
    stream = SCRUBBER.stream()
    bounds = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    parts = [stream.feed(text[start:end]) for start, end in pairwise(bounds)]
    return "".join([*parts, stream.finish()])


@settings(max_examples=300)
@given(TEXTS, st.lists(st.integers(0, 600), max_size=12))
def test_cutting_does_not_show(text: str, cuts: list[int]) -> None:
    assert streamed(text, cuts) == SCRUBBER.text(text)


@given(TEXTS)
def test_letter_by_letter_is_no_exception(text: str) -> None:
    assert streamed(text, list(range(len(text)))) == SCRUBBER.text(text)


def test_a_block_without_an_end_does_not_hold_back_the_rest_for_ever() -> None:
    text = f"{BEGIN}\n" + "word after word, no key at all\n" * (REACH // 10)
    stream = SCRUBBER.stream()
    given_out = "".join(stream.feed(text[start : start + 500]) for start in range(0, len(text), 500))
    assert len(given_out) > len(text) - 1_000
    assert given_out + stream.finish() == SCRUBBER.text(text)


def test_whole_lines_are_given_at_once() -> None:
    stream = SCRUBBER.stream()
    assert stream.feed("no newline yet") == ""
    assert stream.feed(", now\nand") == "no newline yet, now\n"
    assert stream.finish() == "and"
    assert stream.finish() == ""


def test_a_key_block_is_held_back_until_its_end() -> None:
    stream = SCRUBBER.stream()
    assert stream.feed(f"before\n{BEGIN}\n{BODY}\n") == "before\n"
    assert stream.feed(f"{BODY}\n") == ""
    assert stream.feed(f"{END}\nafter\n").startswith("[SECRET:private-key:")
    assert stream.finish() == ""
