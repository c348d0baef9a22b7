"""Secrets that only their surroundings give away, and the look-alikes beside them."""

from __future__ import annotations

import re

import pytest

from skillopt.domain.scrub import Scrubber

TOKEN = re.compile(r"\[SECRET:[a-z0-9-]+:[0-9a-f]{4}\]")


def marked(text: str) -> str:
    return TOKEN.sub("T", Scrubber().text(text))


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("DB_PASSWORD=hunter2", "DB_PASSWORD=T"),
        ("export DB_PASSWORD='hunter2'", "export DB_PASSWORD='T'"),
        ('{"password": "hunter2", "user": "bob"}', '{"password": "T", "user": "bob"}'),
        ('"{\\"password\\": \\"hunter2\\"}"', '"{\\"password\\": \\"T\\"}"'),
        ('"{\\\\\\"password\\\\\\": \\\\\\"hunter2\\\\\\"}"', '"{\\\\\\"password\\\\\\": \\\\\\"T\\\\\\"}"'),
        ('{"password": "a\\"b2c"}', '{"password": "T"}'),
        ('password: str = "hunter2"', 'password: str = "T"'),
        ('connect(host="db", password="hunter2")', 'connect(host="db", password="T")'),
        ("connect(password=hunter2, port=1)", "connect(password=T, port=1)"),
        ("Server=db;Password=hunter2;Encrypt=true", "Server=db;Password=T;Encrypt=true"),
        ("/login?token=f3a9c1d27b55&page=2", "/login?token=T&page=2"),
        ("<password>hunter2</password>", "<password>T</password>"),
        ('<add key="ApiKey" value="f3a9c1d27b55" />', '<add key="ApiKey" value="T" />'),
        ('{"name": "DB_PASSWORD", "value": "hunter2"}', '{"name": "DB_PASSWORD", "value": "T"}'),
        ('os.environ["DB_PASSWORD"] = "hunter2"', 'os.environ["DB_PASSWORD"] = "T"'),
        ('headers.set("X-Api-Key", "f3a9c1d27b55e0")', 'headers.set("X-Api-Key", "T")'),
        ("password=hunter2\\nnext", "password=T\\nnext"),
        ("**Password:** hunter2", "**Password:** T"),
        ("STRIPE_KEY=f3a9c1d27b55e0aaB1", "STRIPE_KEY=T"),
        ('"api_key": "f3a9c1d27b55', '"api_key": "T'),
        ("login?q=password%3Dhunter2%26x%3D1", "login?q=password%3DT%26x%3D1"),
        ("Server=db;Password=Coffee%2756;Encrypt=true", "Server=db;Password=T;Encrypt=true"),
        ("--client-secret 'MIMGbcTUFPNRjXm'", "--client-secret 'T'"),
        ("&quot;password&quot;:&quot;hunter2&quot;", "&quot;password&quot;:&quot;T&quot;"),
    ],
)
def test_assignments(text: str, scrubbed: str) -> None:
    assert marked(text) == scrubbed


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("postgres://app:hunter2@db:5432/shop", "postgres://app:T@db:5432/shop"),
        ("redis://:hunter2@cache:6379/0", "redis://:T@cache:6379/0"),
        ("mysql://app:hun/ter2@db/shop", "mysql://app:T@db/shop"),
        ("https://f3a9c1d27b55e0aab1f3a9c1d27b55e0@git.example.net/a", "https://T@git.example.net/a"),
        ("http://localhost:8080/a/@scope/b", "http://localhost:8080/a/@scope/b"),
        ("postgres://user:password@localhost/x", "postgres://user:password@localhost/x"),
        ("postgres://$USER:$PASS@localhost/x", "postgres://$USER:$PASS@localhost/x"),
        ("ssh://git@example.com:22/a", "ssh://git@example.com:22/a"),
    ],
)
def test_urls(text: str, scrubbed: str) -> None:
    assert marked(text) == scrubbed


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("Authorization: Bearer f3a9c1d27b55", "Authorization: Bearer T"),
        ("authorization: token f3a9c1d27b55", "authorization: token T"),
        ('"Authorization": "Bearer f3a9c1d27b55"', '"Authorization": "Bearer T"'),
        ("Authorization: Basic Ym9iOmh1bnRlcjI=", "Authorization: Basic T"),
        ("sent Basic Ym9iOmh1bnRlcjI= to it", "sent Basic T to it"),
        ("Authorization: f3a9c1d27b55", "Authorization: T"),
        ("sent Bearer f3a9c1d27b55e0 to it", "sent Bearer T to it"),
        ("Basic strategies and Bearer authentication", "Basic strategies and Bearer authentication"),
        ('"Authorization": f"Bearer {token}"', '"Authorization": f"Bearer {token}"'),
        ("Authorization: Bearer $TOKEN", "Authorization: Bearer $TOKEN"),
    ],
)
def test_headers(text: str, scrubbed: str) -> None:
    assert marked(text) == scrubbed


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("tool --password hunter2 --fast", "tool --password T --fast"),
        ("tool --token=f3a9c1d27b55", "tool --token=T"),
        ('tool --api-key "f3a9c1d27b55"', 'tool --api-key "T"'),
        ("curl -u bob:hunter2 http://127.0.0.1", "curl -u bob:T http://127.0.0.1"),
        ("mysql -u root -phunter2 shop", "mysql -u root -pT shop"),
        ("sshpass -p hunter2 ssh host", "sshpass -p T ssh host"),
        ("docker run -u 1000:1000 app", "docker run -u 1000:1000 app"),
        ("tool --password-stdin", "tool --password-stdin"),
        ("tool --token $TOKEN", "tool --token $TOKEN"),
        ("--token TOKEN  the token", "--token TOKEN  the token"),
    ],
)
def test_commands(text: str, scrubbed: str) -> None:
    assert marked(text) == scrubbed


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("the password is hunter2, please", "the password is T, please"),
        ("my password was hunter2.", "my password was T."),
        ("machine db login bob password hunter2", "machine db login bob password T"),
        ("the password is wrong", "the password is wrong"),
        ("the token count is 5000", "the token count is 5000"),
        ("token is 5000 letters", "token is 5000 letters"),
        ("password sha256 hashing", "password sha256 hashing"),
    ],
)
def test_sentences(text: str, scrubbed: str) -> None:
    assert marked(text) == scrubbed


@pytest.mark.parametrize("carried", ["a\nb", "a\u00e9b", "\ud800"])
def test_what_stands_around_is_kept(carried: str) -> None:
    assert marked(f"{carried} password=hunter2 {carried}") == f"{carried} password=T {carried}"


@pytest.mark.parametrize("length", [100, 239, 240, 241, 242, 500, 5_000])
@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("piece", ["aB3.", "aB3)", "aB3é"])
def test_a_long_value_is_hidden_whole(length: int, quote: str, piece: str) -> None:
    value = (piece * length)[:length] + "z"
    assert marked(f"API_KEY={quote}{value}{quote} and more") == f"API_KEY={quote}T{quote} and more"


@pytest.mark.parametrize("after", ['"', "'", '", "x"', "'”.", '\\", \\"x\\"'])
def test_padding_before_a_quote_is_no_annotation(after: str) -> None:
    assert marked(f"authorization: Basic Ym9iOnB1cnBsZTE0MDQ={after}") == f"authorization: Basic T{after}"
