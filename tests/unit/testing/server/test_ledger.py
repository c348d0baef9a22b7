from __future__ import annotations

import pytest

from skillopt.testing.faults import FaultKind
from skillopt.testing.server.connection import HttpRequest
from skillopt.testing.server.ledger import LoggedRequest, RequestLog, RoleCount, redacted


def outline(number: int, scenario: str = "echo") -> LoggedRequest:
    return LoggedRequest(
        number=number, scenario=scenario, path="/v1/x", model="m", role="target", attempt=1, fault=None
    )


def request(*headers: tuple[bytes, bytes], body: bytes = b"{}") -> HttpRequest:
    return HttpRequest(method="POST", target="/v1/x", headers=headers, body=body)


def test_the_log_forgets_the_oldest() -> None:
    log = RequestLog(2)
    for number in range(4):
        log.add(request(), outline(number))
    assert [entry.number for entry in log.entries()] == [2, 3]


def test_the_log_of_a_scenario_has_only_its_requests() -> None:
    log = RequestLog(9)
    log.add(request(), outline(1, "echo"))
    log.add(request(), outline(2, "coin"))
    assert [entry.number for entry in log.entries("coin")] == [2]


@pytest.mark.parametrize("name", [b"Authorization", b"X-API-Key", b"api-key", b"Cookie"])
def test_keys_never_show_but_can_be_told_apart(name: bytes) -> None:
    log = RequestLog(9)
    for number, key in enumerate((b"Bearer one", b"Bearer one", b"Bearer two")):
        log.add(request((name, key), (b"X-Other", b"kept")), outline(number))
    shown = [entry.headers[name.decode().lower()] for entry in log.entries()]
    assert "one" not in "".join(shown)
    assert shown[0] == shown[1] == redacted("Bearer one")
    assert shown[0] != shown[2]
    assert shown[0].startswith("Bearer [redacted ")
    assert log.entries()[0].headers["x-other"] == "kept"


def test_a_body_that_is_no_text_is_shown_all_the_same() -> None:
    log = RequestLog(1)
    log.add(request(body=b"\xff{}"), outline(1))
    assert log.entries()[0].body.endswith("{}")


def test_counts_add_up() -> None:
    count = RoleCount(1.0)
    count.arrive(1.0)
    count.arrive(3.0)
    count.serve(10, 2)
    count.faults[FaultKind.CUT] += 1
    stats = count.stats()
    assert (stats.requests, stats.served, stats.in_flight, stats.max_in_flight) == (2, 1, 2, 2)
    assert (stats.input_tokens, stats.output_tokens, stats.first, stats.last) == (10, 2, 1.0, 3.0)
    assert stats.faults == {"cut": 1}
