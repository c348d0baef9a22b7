"""Base64 and percent-encoding: one level, whole runs."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt.domain.scrub import Scrubber
from skillopt.domain.scrub.encodings import base64_cores, usable_needles

TOKEN = re.compile(r"\[SECRET:[a-z0-9-]+:[0-9a-f]{4}\]")
GITHUB = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"


def marked(text: str) -> str:
    return TOKEN.sub("T", Scrubber().text(text))


@given(st.binary(min_size=4, max_size=40), st.binary(max_size=7), st.binary(max_size=7))
def test_a_core_is_in_every_base64_that_holds_the_value(value: bytes, before: bytes, after: bytes) -> None:
    encoded = base64.b64encode(before + value + after)
    assert base64_cores(value)[len(before) % 3] in encoded


@pytest.mark.parametrize("before", ["", " ", "k ", "export TOKEN="])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_run_that_hides_a_secret_is_replaced_whole(before: str, encode: Callable[[bytes], bytes]) -> None:
    run = encode(f"{before}{GITHUB} ?>~".encode()).decode()
    assert marked(f'{{"data": "{run}", "a": 1}}') == '{"data": "T", "a": 1}'


def test_a_key_block_in_base64_is_hidden() -> None:
    block = "-----BEGIN PRIVATE KEY-----\n" + "MIIEowIBAAKCAQEA1234567890abcdef" * 4 + "\n-----END PRIVATE KEY-----\n"
    assert marked(f"tls.key: {base64.b64encode(block.encode()).decode()}") == "tls.key: T"


@pytest.mark.parametrize(
    "said", ["nothing of note is written here", "ghp_ is how they begin, that is all", "\x00\x01" * 30]
)
def test_a_run_that_says_nothing_secret_stays(said: str) -> None:
    text = f"data: {base64.b64encode(said.encode()).decode()}"
    assert marked(text) == text


def test_a_percent_encoded_secret_is_hidden() -> None:
    assert marked(f"/a?next={quote('/b?k=' + GITHUB, safe='')}&lang=en") == "/a?next=T&lang=en"
    assert marked("/a?next=" + "".join(f"%{letter:02X}" for letter in GITHUB.encode())) == "/a?next=T"


def test_other_percent_encoding_stays() -> None:
    text = "/a%20b?next=%2Fhome%2Fpage%3Fx%3D1&q=100%25"
    assert marked(text) == text


def test_needles_are_ordered_and_long_enough() -> None:
    assert usable_needles(["abc", "bbbb", "aaaa", " aaaa ", "longer"]) == ("longer", "aaaa", "bbbb")
