"""What the scrubber promises as a whole: nothing planted is left, nothing innocent touched, and once is enough."""

from __future__ import annotations

import base64
import json
import re
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt.domain.scrub import Scrubber, needles_from
from skillopt.testing.secrets import CONTEXT_KINDS, PROVIDER_KINDS, Planted, hard_negatives, planted, planted_of

SEED = 20_260_801
LINES = 1_200
GITHUB = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
TOKEN = re.compile(r"\[SECRET:[a-z0-9-]+:[0-9a-f]{4}\]")


def leaks(secret: Planted, scrubbed: str) -> bool:
    """Say whether eight letters in a row of the secret are left."""
    left = TOKEN.sub(" ", scrubbed)
    width = min(8, len(secret.value))
    return any(secret.value[start : start + width] in left for start in range(len(secret.value) - width + 1))


def missed(kinds: tuple[str, ...]) -> list[str]:
    scrubber = Scrubber()
    return [
        f"{secret.kind}: {secret.line}"
        for secret in planted_of(kinds, SEED, LINES)
        if leaks(secret, scrubber.text(secret.line))
    ]


def test_secrets_of_providers_are_found() -> None:
    left = missed(PROVIDER_KINDS)
    assert len(left) <= 0.01 * LINES, f"seed {SEED}: {left}"


def test_secrets_known_by_their_context_are_found() -> None:
    left = missed(CONTEXT_KINDS)
    assert len(left) <= 0.02 * LINES, f"seed {SEED}: {left}"


def test_of_a_thousand_planted_secrets_not_one_is_left_and_without_scrubbing_all_are() -> None:
    scrubber = Scrubber()
    secrets = planted(SEED, 1_000)
    assert [secret for secret in secrets if leaks(secret, scrubber.text(secret.line))] == []
    assert sum(leaks(secret, secret.line) for secret in secrets) == 1_000


def test_innocent_lines_stay_as_they_are() -> None:
    scrubber = Scrubber()
    touched = [line for line in hard_negatives(SEED, LINES) if scrubber.text(line) != line]
    assert len(touched) <= 0.001 * LINES, f"seed {SEED}: {touched}"


def test_innocent_lines_of_one_text_stay_as_they_are() -> None:
    text = "\n".join(hard_negatives(SEED + 1, LINES))
    assert Scrubber().text(text) == text


def test_a_clean_text_is_returned_itself() -> None:
    text = "The loop starts at zero; 14 of 14 tests pass."
    assert Scrubber(["some-known-value"]).text(text) is text


def test_a_value_has_one_token_wherever_it_stands() -> None:
    encoded = base64.b64encode(f"x {GITHUB}".encode()).decode()
    places = (
        f"key {GITHUB}",
        f"GITHUB_TOKEN={GITHUB}",
        f'{{"password": "{GITHUB}"}}',
        f"blob {encoded}",
        f"\\n{GITHUB}",
    )
    tokens = {TOKEN.findall(Scrubber().text(place))[0] for place in places}
    assert len(tokens) == 1
    assert tokens.pop().startswith("[SECRET:github-pat:")


def test_different_values_have_different_tokens() -> None:
    scrubber = Scrubber()
    assert scrubber.text("password=hunter2") != scrubber.text("password=hunter3")


@pytest.mark.parametrize(
    "text",
    [
        "password is [SECRET:password:12ab]",
        "API_KEY=[SECRET:openai-key:00ff] done",
        "[SECRET:a:1234][SECRET:b:5678]",
        "[SECRET:not-a-token]",
        "postgres://bob:[SECRET:password:12ab]@db/x",
    ],
)
def test_tokens_are_left_alone(text: str) -> None:
    assert Scrubber(["[SECRET:password:12ab]", "SECRET:b"]).text(text) == text


FRAGMENTS = (
    "\n",
    " ",
    '"',
    "'",
    '\\"',
    "\\n",
    "x",
    "é",
    "日",
    "\ud800",
    "[SECRET:",
    "[SECRET:a-b:12ab]",
    "]",
    "=",
    ",",
    ".",
    "-",
    "@",
    "@host",
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----END RSA PRIVATE KEY-----",
    "-----",
    "MIIEowIBAAKCAQEA1234567890abcdefMIIE",
    "password=",
    "password: ",
    "token is ",
    "API_KEY=",
    "Authorization: ",
    "Bearer ",
    "--password ",
    "://",
    "bob:",
    "hunter2",
    GITHUB,
    "sk-proj-",
    "AKIAABCDEFGHIJKLMNOP",
    "eyJhbGciOiJIUzI1NiJ9",
    "%20",
    "%3D",
    "1234567890:",
    "needle-value-99",
    base64.b64encode(GITHUB.encode()).decode(),
    "<password>",
    "${X}",
    "curl -u a:",
)
TEXTS = st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join)
SCRUBBER = Scrubber(["needle-value-99", "first line\nsecond line"])


@given(TEXTS)
def test_scrubbing_twice_is_scrubbing_once(text: str) -> None:
    once = SCRUBBER.text(text)
    assert SCRUBBER.text(once) == once


@given(st.text(max_size=200))
def test_any_text_can_be_scrubbed(text: str) -> None:
    once = SCRUBBER.text(text)
    assert SCRUBBER.text(once) == once


@given(st.recursive(TEXTS | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner)))
def test_a_value_scrubbed_twice_is_scrubbed_once(value: object) -> None:
    once = SCRUBBER.value(value)
    assert SCRUBBER.value(once) == once


NEEDLE = 'p"w/ö needle+99?'


@pytest.mark.parametrize(
    "text",
    [
        f"a{NEEDLE}b",
        json.dumps({"out": f"a{NEEDLE}b"}),
        json.dumps({"out": f"a{NEEDLE}b"}, ensure_ascii=False),
        f"/q?x={quote(NEEDLE, safe='')}",
        f"/q?x={quote(NEEDLE, safe='').lower()}",
        *(base64.b64encode(b"z" * shift + f"{NEEDLE} and more".encode()).decode() for shift in range(3)),
        *(base64.urlsafe_b64encode(b"z" * shift + NEEDLE.encode()).decode() for shift in range(3)),
    ],
)
def test_a_known_value_is_found_in_every_spelling(text: str) -> None:
    scrubbed = Scrubber([NEEDLE]).text(text)
    assert TOKEN.findall(scrubbed) == TOKEN.findall(Scrubber([NEEDLE]).text(NEEDLE))
    assert "needle" not in TOKEN.sub("", scrubbed)
    assert Scrubber().text(text) == text, "only the needle makes it a secret"


def test_a_known_value_of_many_lines_is_found_whole_and_escaped() -> None:
    value = "first secret line\nab\nsecond secret line"
    scrubber = Scrubber([value])
    assert TOKEN.sub("T", scrubber.text(f"> {value}\n")) == "> T\nab\nT\n"
    assert TOKEN.sub("T", scrubber.text(json.dumps([value]))) == '["T"]'


def test_the_longer_of_two_known_values_wins() -> None:
    scrubbed = Scrubber(["abcdefgh", "abcdefgh-ijkl"]).text("abcdefgh-ijkl abcdefgh")
    assert len(set(TOKEN.findall(scrubbed))) == 2
    assert TOKEN.sub("", scrubbed) == " "


def test_blank_needles_are_no_needles() -> None:
    assert Scrubber(["", "  ", "abc"]).text("abc  def") == "abc  def"


def test_a_key_that_says_secret_hides_its_value() -> None:
    value = {
        "password": "hunter2",
        "apiKey": "f3a9c1d27b",
        "nested": [{"clientSecret": "aB3dE5gH7jK9", "name": "bob"}],
        "Authorization": f"Bearer {GITHUB}",
        "pair": ("token is", f"use {GITHUB}"),
        "count": 3,
        "ok": True,
    }
    scrubbed = Scrubber().value(value)
    assert TOKEN.sub("T", json.dumps(scrubbed)) == json.dumps(
        {
            "password": "T",
            "apiKey": "T",
            "nested": [{"clientSecret": "T", "name": "bob"}],
            "Authorization": "Bearer T",
            "pair": ["token is", "use T"],
            "count": 3,
            "ok": True,
        }
    )
    assert isinstance(scrubbed, dict)
    assert isinstance(scrubbed["pair"], tuple)


@pytest.mark.parametrize(
    "value",
    [
        {"password": ""},
        {"password": None},
        {"password": "<password>"},
        {"token": "${TOKEN}"},
        {"max_tokens": "4096"},
        {"next_token": "aB3dE5gH7jK9mN1p"},
        {"secret": "[SECRET:password:12ab]"},
        {"key": "id"},
        {"password": {"type": "string"}},
        {1: "a", None: ["b"]},
    ],
)
def test_a_value_without_secrets_stays_as_it_is(value: object) -> None:
    assert Scrubber().value(value) == value


def test_a_key_that_is_a_secret_is_hidden_too() -> None:
    assert TOKEN.sub("T", str(Scrubber().value({GITHUB: 1}))) == "{'T': 1}"


def test_needles_are_values_whose_name_says_secret() -> None:
    variables = {
        "OPENAI_API_KEY": "value-of-key-1",
        "DB_PASSWORD": "longer-value-of-password",
        "SHORT_TOKEN": "abc",
        "HOME": "/home/someone",
        "PWD": "/home/someone/project",
        "SSH_AUTH_SOCK": "/run/user/1000/agent.sock",
        "GOOGLE_APPLICATION_CREDENTIALS": "/home/someone/.config/gcp.json",
        "PATH": "/usr/local/bin:/usr/bin",
        "COPY_OF_KEY": "value-of-key-1",
        "MAX_TOKENS": "1234567890",
        "TOKEN_URL": "https://example.com/token",
    }
    wanted = ("longer-value-of-password", "value-of-key-1")
    assert needles_from(variables) == wanted
    assert needles_from(dict(reversed(variables.items()))) == wanted
    assert needles_from({}) == ()
