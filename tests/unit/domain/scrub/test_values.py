"""Which values are believed to be secrets under a name that says so."""

from __future__ import annotations

import pytest

from skillopt.domain.scrub.names import Family
from skillopt.domain.scrub.values import (
    Style,
    believable,
    is_jumbled,
    is_mask,
    is_shuffled,
    is_variable_name,
    looks_like_path,
)


@pytest.mark.parametrize(
    ("value", "family", "style"),
    [
        ("hunter2", Family.PASSWORD, Style.QUOTED),
        ("letmein", Family.PASSWORD, Style.SHELL),
        ("swordfish", Family.PASSWORD, Style.BARE),
        ("12345678", Family.PASSWORD, Style.BARE),
        ("correct horse battery staple", Family.PASSWORD, Style.QUOTED),
        ("correct-horse-battery-staple", Family.PASSWORD, Style.QUOTED),
        ("pa$$w0rd!", Family.PASSWORD, Style.QUOTED),
        ("f3a9c1d27b55", Family.MACHINE, Style.BARE),
        ("550e8400-e29b-41d4-a716-446655440000", Family.MACHINE, Style.BARE),
        ("wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzKEY", Family.MACHINE, Style.SHELL),
        ("XqPzRtYwMnBvKsJd", Family.MACHINE, Style.QUOTED),
    ],
)
def test_believed(value: str, family: Family, style: Style) -> None:
    assert believable(value, family, style)


@pytest.mark.parametrize("style", [Style.QUOTED, Style.SHELL, Style.BARE, Style.SAID, Style.LOOSE])
@pytest.mark.parametrize("family", list(Family))
@pytest.mark.parametrize(
    "value",
    [
        "",
        "x",
        "***",
        "xxxxxxxx",
        "<password>",
        "${DB_PASSWORD}",
        "$DB_PASSWORD",
        "%DB_PASSWORD%",
        "{{ password }}",
        "{password}",
        "...",
        "YOUR_API_KEY",
        "your-token-here",
        "changeme",
        "null",
        "None",
        "true",
        "password",
        "secret",
        "/run/secrets/db",
        "./certs/key.pem",
        "~/.ssh/id_ed25519",
        "[SECRET:password:12ab]",
        "arn:aws:secretsmanager:eu:1:x",
        "https://example.com/token",
        "!vault key",
        "%s:%s",
        "Enter your password",
        "must be at least 8 characters",
    ],
)
def test_never_believed(value: str, family: Family, style: Style) -> None:
    assert not believable(value, family, style)


@pytest.mark.parametrize(
    "value",
    [
        "str",
        "Optional[str]",
        "get_token()",
        "self.password",
        "tokens[0]",
        "process.env.X",
        "await",
        "0x1f",
        "3.14",
        "user_input",
        "&value",
    ],
)
@pytest.mark.parametrize("family", [Family.PASSWORD, Family.MACHINE, Family.STRICT])
def test_program_text_is_not_believed(value: str, family: Family) -> None:
    assert not believable(value, family, Style.BARE)


@pytest.mark.parametrize(
    "value", ["access_token", "sha256", "base64", "aes-256-gcm", "token1", "bearer-v2", "next page", "5000"]
)
def test_words_are_no_machine_made_secrets(value: str) -> None:
    assert not believable(value, Family.MACHINE, Style.QUOTED)


@pytest.mark.parametrize(
    "value", ["sk-xxxxxxxxxxxxxxxx", "AKIAIOSFODNN7EXAMPLE", "ghp_your_token_goes_here1", "aaaaaaaaaaaaaaaaaaaa"]
)
def test_masks(value: str) -> None:
    assert is_mask(value)


def test_a_random_string_is_no_mask() -> None:
    assert not is_mask("oheuSAyourCAAKMY_0ebMg5")


def test_a_run_of_separators_does_not_hang_the_judgement() -> None:
    assert not believable("/a" + "/" * 200 + "\x01", Family.MACHINE, Style.QUOTED)


@pytest.mark.parametrize(
    ("value", "is_path"), [("/etc/ssl/key.pem", True), ("key.pem", True), ("a/b/c", True), ("hunter2", False)]
)
def test_paths(value: str, is_path: bool) -> None:
    assert looks_like_path(value) is is_path


def test_variables_of_templates() -> None:
    assert all(map(is_variable_name, ("$PASS", "${PASS}", "{password}", "%s", "<pass>")))
    assert not is_variable_name("hunter2")


def test_camel_case_is_not_shuffled() -> None:
    assert not is_shuffled("getUserNameFromDatabase")
    assert not is_jumbled("getUserNameFromDatabase")
    assert is_jumbled("MIMGbcTUFPNRjXm")
    assert is_shuffled("XqPzRtYwMnBvKsJd")
