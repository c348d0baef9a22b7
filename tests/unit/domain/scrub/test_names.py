"""Which names say that their value is a secret."""

from __future__ import annotations

import pytest

from skillopt.domain.scrub.names import Family, components, family_of, names_a_secret


@pytest.mark.parametrize("name", ["dbPassword", "DB_PASSWORD", "db-password", "db.password", "DbPassword"])
def test_a_name_has_the_same_words_however_it_is_written(name: str) -> None:
    assert components(name) == ("db", "password")


@pytest.mark.parametrize(
    ("prefix", "word", "family"),
    [
        ("DB_", "PASSWORD", Family.PASSWORD),
        ("PG", "PASSWORD", Family.PASSWORD),
        ("smtp_", "pass", Family.PASSWORD),
        ("by", "pass", None),
        ("", "pass", Family.MACHINE),
        ("", "token", Family.MACHINE),
        ("auth", "token", Family.MACHINE),
        ("bot", "Token", Family.MACHINE),
        ("next_", "token", None),
        ("eos_", "token", None),
        ("idempotency_", "access_key", None),
        ("bar", "secret", None),
        ("client_", "secret", Family.MACHINE),
        ("OPENA", "I_KEY", Family.STRICT),
        ("CACH", "E_KEY", None),
        ("PUBLI", "C_KEY", None),
        ("", "authorization", Family.HEADER),
    ],
)
def test_the_last_component_of_a_name_decides(prefix: str, word: str, family: Family | None) -> None:
    assert family_of(prefix, word) is family


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "GITHUB_TOKEN",
        "DB_PASSWD",
        "PGPASSWORD",
        "MYSQL_PWD",
        "AWS_SECRET_ACCESS_KEY",
        "npm_auth",
        "CREDENTIALS",
    ],
)
def test_variables_that_hold_secrets(name: str) -> None:
    assert names_a_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        "PWD",
        "OLDPWD",
        "HOME",
        "KEYBOARD",
        "TOKENIZERS_PARALLELISM",
        "MAX_TOKENS",
        "TOKEN_URL",
        "AUTHOR",
        "MONKEY",
        "KEY_FILE",
        "",
    ],
)
def test_variables_that_hold_none(name: str) -> None:
    assert not names_a_secret(name)
