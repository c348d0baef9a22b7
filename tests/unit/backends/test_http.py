"""Addresses and heads: what is read, and what is refused without repeating a secret."""

from __future__ import annotations

import pytest

from skillopt.backends.http import parse_url, request_head
from skillopt.domain.errors import UsageError


@pytest.mark.parametrize(
    ("text", "authority", "path"),
    [
        ("https://api.example.com/v1", "api.example.com", "/v1"),
        ("https://api.example.com/v1/", "api.example.com", "/v1"),
        ("https://api.example.com", "api.example.com", ""),
        ("https://API.Example.com:443/v1", "api.example.com", "/v1"),
        ("http://127.0.0.1:8000/a/b", "127.0.0.1:8000", "/a/b"),
        ("http://localhost:80", "localhost", ""),
        ("http://[::1]:9000/v1", "[::1]:9000", "/v1"),
    ],
)
def test_an_address_is_read_into_its_parts(text: str, authority: str, path: str) -> None:
    url = parse_url(text)
    assert (url.authority, url.path) == (authority, path)
    assert parse_url(url.text) == url


@pytest.mark.parametrize(
    "text",
    [
        "",
        "api.example.com/v1",
        "ftp://example.com",
        "https://",
        "https:///v1",
        "https://user:hunter2@example.com/v1",
        "https://hunter2@example.com/v1",
        "https://example.com/v1?key=hunter2",
        "https://example.com/v1?",
        "https://example.com/v1#hunter2",
        "https://exa mple.com",
        "https://example.com/v1\r\nX-Evil: 1",
        "https://example.com/\tv1",
        "https://exämple.com",
        "https://example.com:port",
        "https://example.com:0",
        "https://example.com:70000",
        "https://[::1",
        "https://a..b/v1",
        "https://" + "a" * 64 + ".com",
    ],
)
def test_an_address_that_cannot_be_meant_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_url(text)
    assert "hunter2" not in str(caught.value)
    assert "http://127.0.0.1:8000/v1" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "loopback"),
    [
        ("http://localhost/v1", True),
        ("http://127.0.0.1/v1", True),
        ("http://127.8.9.1/v1", True),
        ("http://[::1]/v1", True),
        ("http://192.168.0.1/v1", False),
        ("http://0.0.0.0/v1", False),
        ("http://localhost.example.com/v1", False),
        ("http://127.0.0.1.example.com/v1", False),
        ("http://localhost.:80/v1", False),
    ],
)
def test_loopback_is_this_machine_and_no_look_alike(text: str, loopback: bool) -> None:
    assert parse_url(text).is_loopback is loopback


def test_a_head_is_exact() -> None:
    head = request_head(
        "POST", parse_url("http://127.0.0.1:8000/v1"), "/x", {"Authorization": "Bearer k", "x-a": "b c"}
    )
    assert head == (
        b"POST /v1/x HTTP/1.1\r\nhost: 127.0.0.1:8000\r\nauthorization: Bearer k\r\nx-a: b c\r\ncontent-length: "
    )


@pytest.mark.parametrize(
    "value", ["hunter2\r\nx-evil: 1", "hunter2\n", "hunter2\r", "hunter2\0", "hunter2ä", "hunter2\x7f"]
)
def test_a_header_value_that_could_add_a_header_is_refused_and_not_repeated(value: str) -> None:
    with pytest.raises(UsageError) as caught:
        request_head("POST", parse_url("https://example.com"), "/", {"authorization": value})
    assert "authorization" in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("name", ["", "a b", "a:b", "a\r\nb", "ä"])
def test_a_header_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="not a header name"):
        request_head("POST", parse_url("https://example.com"), "/", {name: "x"})
