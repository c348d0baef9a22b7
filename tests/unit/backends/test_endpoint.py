"""Where a key may go, and which headers are ours to write; what goes over the wire is in tests/wire."""

from __future__ import annotations

import pytest

from skillopt.backends.endpoint import Endpoint, KeyUse, check_key_host
from skillopt.backends.http import parse_url
from skillopt.domain.errors import UsageError

KEY = "sk-hunter2-hunter2"


def endpoint(base_url: str = "https://api.example.com/v1", *, key: KeyUse | None = None, **headers: str) -> Endpoint:
    return Endpoint(base_url, "/x", key=key, headers={name.replace("_", "-"): text for name, text in headers.items()})


@pytest.mark.parametrize(
    "base_url", ["https://api.example.com/v1", "http://127.0.0.1:8000/v1", "http://localhost/v1", "http://[::1]/v1"]
)
def test_a_key_may_go_where_nobody_listens(base_url: str) -> None:
    check_key_host(parse_url(base_url))
    assert endpoint(base_url, key=KeyUse(key=KEY)).address == base_url


@pytest.mark.parametrize(
    "base_url", ["http://api.example.com/v1", "http://192.168.0.7:8000/v1", "http://localhost.example.com/v1"]
)
def test_a_key_never_travels_in_the_clear(base_url: str) -> None:
    with pytest.raises(UsageError, match="unencrypted") as caught:
        endpoint(base_url, key=KeyUse(key=KEY))
    assert "hunter2" not in str(caught.value)
    assert endpoint(base_url).address == base_url


def test_a_providers_own_key_goes_to_its_own_hosts_only() -> None:
    own = ("api.example.com",)
    check_key_host(parse_url("https://api.example.com/v1"), own)
    for other in ("https://example.com/v1", "https://evil-api.example.com/v1", "https://api.example.com.evil.org/v1"):
        with pytest.raises(UsageError, match="not sent to"):
            check_key_host(parse_url(other), own)


@pytest.mark.parametrize("name", ["Authorization", "host", "Content_Length", "x_api_key"])
def test_headers_cannot_take_the_place_of_ours(name: str) -> None:
    with pytest.raises(UsageError, match=name.replace("_", "-")) as caught:
        endpoint(key=KeyUse(key=KEY, header="x-api-key", scheme=""), **{name: "hunter2"})
    assert "hunter2" not in str(caught.value)


def test_the_header_of_another_providers_key_is_free() -> None:
    assert endpoint(key=KeyUse(key=KEY), x_api_key="gateway").secrets == ("", "gateway")


def test_no_repr_shows_a_key() -> None:
    assert "hunter2" not in repr(KeyUse(key=KEY))
    assert "hunter2" not in repr(endpoint(key=KeyUse(key=KEY)))
