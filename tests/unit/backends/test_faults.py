"""Statuses, error bodies and Retry-After of many providers, each as the error that names who must act."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pytest

from skillopt.backends.connection import Response
from skillopt.backends.faults import WORDS_LIMIT, Asked, Complaint, plain, provider_error, read_complaint, retry_after
from skillopt.domain.errors import (
    AuthError,
    ContextTooLongError,
    ProviderError,
    QuotaExhaustedError,
    RateLimitedError,
    RefusedError,
    UnavailableError,
)

ASKED = Asked(model="m-1", address="https://api.example.com/v1", secrets=("sk-hunter2-hunter2", "ab"))
DATE = "Sun, 06 Nov 1994 08:49:37 GMT"


def reply(status: int, body: bytes = b"", headers: Mapping[str, str] = MappingProxyType({})) -> Response:
    named = tuple((name.replace("_", "-").encode(), value.encode()) for name, value in headers.items())
    return Response(status, named, body)


def error_for(status: int, body: bytes) -> ProviderError:
    return provider_error(ASKED, reply(status, body), read_complaint(body) or Complaint())


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (401, b'{"error":{"message":"bad key","type":"invalid_request_error","code":"invalid_api_key"}}', AuthError),
        (403, b"Forbidden", AuthError),
        (402, b"{}", QuotaExhaustedError),
        (429, b'{"error":{"message":"x","type":"insufficient_quota"}}', QuotaExhaustedError),
        (429, b'{"error":{"message":"x","code":"billing_hard_limit_reached"}}', QuotaExhaustedError),
        (403, b'{"error":{"message":"x","code":"billing_not_active"}}', QuotaExhaustedError),
        (400, b'{"error":{"message":"Your credit balance is too low to go on"}}', QuotaExhaustedError),
        (429, b'{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}', RateLimitedError),
        (429, b"", RateLimitedError),
        (429, b'{"error":{"message":"You exceeded your current quota for requests per minute"}}', RateLimitedError),
        (400, b'{"error":{"message":"x","code":"context_length_exceeded"}}', ContextTooLongError),
        (400, b'{"error":{"message":"x","type":"exceed_context_size_error","code":400}}', ContextTooLongError),
        (400, b'{"message":"This model\'s maximum context length is 4096 tokens","code":400}', ContextTooLongError),
        (413, b"Payload Too Large", ContextTooLongError),
        (500, b'{"error":{"message":"the request exceeds the available context size"}}', ContextTooLongError),
        (400, b'{"error":{"message":"max_tokens is too large: 9 > 8","code":"invalid_value"}}', RefusedError),
        (400, b'{"error":{"message":"x","code":"content_filter"}}', RefusedError),
        (404, b'{"error":{"message":"no such model","code":"model_not_found"}}', RefusedError),
        (422, b'{"detail":[{"loc":["body"],"msg":"field required"}]}', RefusedError),
        (405, b"", RefusedError),
        (301, b"", RefusedError),
        (307, b"", RefusedError),
        (408, b"", UnavailableError),
        (409, b"", UnavailableError),
        (425, b"", UnavailableError),
        (500, b"", UnavailableError),
        (502, b"<html><h1>Bad gateway</h1></html>", UnavailableError),
        (503, b'{"error":{"message":"loading model","type":"unavailable_error","code":503}}', UnavailableError),
        (529, b'{"error":{"type":"overloaded_error"}}', UnavailableError),
        (200, b'{"error":{"message":"x","code":429}}', RateLimitedError),
        (200, b'{"error":{"message":"x","code":"402"}}', QuotaExhaustedError),
        (200, b'{"error":{"message":"x","code":502}}', UnavailableError),
        (200, b'{"error":{"message":"x","type":"insufficient_quota"}}', QuotaExhaustedError),
        (200, b'{"error":{"message":"x","code":"rate_limit_exceeded"}}', RateLimitedError),
        (200, b'{"error":{"message":"x","code":"invalid_api_key"}}', AuthError),
        (200, b'{"error":{"message":"x","code":"context_length_exceeded"}}', ContextTooLongError),
        (200, b'{"error":{"message":"x","type":"invalid_request_error"}}', RefusedError),
        (200, b'{"error":{"message":"x","code":"content_filter"}}', RefusedError),
        (200, b'{"error":"something broke"}', UnavailableError),
        (200, b'{"base_resp":{"status_code":1004,"status_msg":"login fail"}}', AuthError),
        (200, b'{"choices":null,"base_resp":{"status_code":1008,"status_msg":"no money"}}', QuotaExhaustedError),
        (200, b'{"base_resp":{"status_code":1002,"status_msg":"slow down"}}', RateLimitedError),
        (200, b'{"base_resp":{"status_code":1026,"status_msg":"sensitive"}}', RefusedError),
        (200, b'{"base_resp":{"status_code":2013,"status_msg":"bad parameters"}}', RefusedError),
        (200, b'{"base_resp":{"status_code":1000}}', UnavailableError),
    ],
)
def test_a_fault_is_typed_by_status_and_body(status: int, body: bytes, error: type[ProviderError]) -> None:
    made = error_for(status, body)
    assert type(made) is error
    assert made.status == status
    assert "m-1" in made.message
    assert "https://api.example.com/v1" in made.message
    assert made.hint


@pytest.mark.parametrize(
    ("body", "message", "code", "kind"),
    [
        (b'{"error":{"message":"a","code":"b","type":"c","param":null,"new":[1]}}', "a", "b", "c"),
        (b'{"error":{"message":"a","code":404,"type":null}}', "a", "404", ""),
        (b'{"error":"a"}', "a", "", ""),
        (b'{"object":"error","message":"a","type":"b","code":400}', "a", "400", "b"),
        (b'{"detail":"a"}', "a", "", ""),
        (b'[{"error":{"message":"a","code":429}}]', "a", "429", ""),
        (b'"a"', "a", "", ""),
        (b"plain text", "plain text", "", ""),
        (b"\xff\xfe", "\ufffd\ufffd", "", ""),
        (b'{"error":{"message":"cut', '{"error":{"message":"cut', "", ""),
        (b'{"x":' + b"[" * 100_000, '{"x":' + "[" * 65_531, "", ""),
    ],
)
def test_an_error_body_is_read_whatever_its_shape(body: bytes, message: str, code: str, kind: str) -> None:
    assert read_complaint(body) == Complaint(message=message, code=code, type=kind)


@pytest.mark.parametrize(
    "body", [b"{}", b'{"choices":[]}', b'{"error":null}', b"[]", b'{"base_resp":{"status_code":0}}']
)
def test_json_without_a_complaint_complains_of_nothing(body: bytes) -> None:
    assert read_complaint(body) is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "0.5"}, 0.5),
        ({"retry_after": "0"}, 0.0),
        ({"retry_after": "-3"}, 0.0),
        ({"retry_after": "soon"}, None),
        ({"retry_after": "inf"}, None),
        ({"retry_after": "nan"}, None),
        ({"retry_after_ms": "1500"}, 1.5),
        ({"retry_after_ms": "1500", "retry_after": "9"}, 1.5),
        ({"retry_after_ms": "x", "retry_after": "9"}, 9.0),
        ({"retry_after": "Sun, 06 Nov 1994 08:50:07 GMT", "date": DATE}, 30.0),
        ({"retry_after": "Sun, 06 Nov 1994 08:40:00 GMT", "date": DATE}, 0.0),
        ({"retry_after": "Sun, 06 Nov 1994 08:50:07 GMT"}, None),
        ({"retry_after": "Sun, 06 Nov 1994 08:50:07", "date": DATE}, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(reply(429, b"", headers)) == seconds


@pytest.mark.parametrize("status", [429, 503])
def test_the_wait_the_provider_asks_for_is_in_the_error(status: int) -> None:
    assert provider_error(ASKED, reply(status, b"", {"retry_after": "4"}), Complaint()).retry_after == 4.0


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\r\n lines\tand\x00more", "two lines and more"),
        ("\x1b[31mred\x1b[0m", "[31mred [0m"),
        ("bidi \u202e and \u200b hidden", "bidi and hidden"),
        ("Incorrect key sk-hunter2-hunter2.", "Incorrect key [secret]."),
        ("ab stays: too short to be a secret", "ab stays: too short to be a secret"),
        ("x" * WORDS_LIMIT, "x" * WORDS_LIMIT),
        ("x" * (WORDS_LIMIT + 1), "x" * (WORDS_LIMIT - 1) + "…"),
        ("", ""),
    ],
)
def test_others_words_are_made_fit_to_print(text: str, shown: str) -> None:
    assert plain(text, ASKED.secrets) == shown


def test_a_secret_at_the_cut_leaves_no_half_of_itself() -> None:
    for offset in range(WORDS_LIMIT - 30, WORDS_LIMIT + 5):
        assert "sk-hunter" not in plain("x" * offset + "sk-hunter2-hunter2" + "y" * 50, ASKED.secrets)


def test_secrets_do_not_show_in_a_repr() -> None:
    assert "hunter2" not in repr(ASKED)
