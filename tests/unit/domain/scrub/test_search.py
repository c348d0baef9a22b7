"""How finds are made one, and which provider names them."""

from __future__ import annotations

from skillopt.domain.scrub.contexts import Found
from skillopt.domain.scrub.search import findings, merged, provider_secret


def found(start: int, end: int, kind: str, doubt: int) -> Found:
    return Found(start=start, end=end, kind=kind, value=b"v", doubt=doubt)


def test_overlapping_finds_become_one_named_by_the_surest() -> None:
    finds = [found(8, 20, "b", 0), found(0, 10, "a", 2), found(20, 30, "c", 1)]
    assert [(one.start, one.end, one.kind) for one in merged(finds)] == [(0, 20, "b"), (20, 30, "c")]


def test_a_find_inside_another_widens_nothing() -> None:
    assert [(one.start, one.end, one.kind) for one in merged([found(0, 30, "a", 2), found(5, 9, "b", 0)])] == [
        (0, 30, "b")
    ]


def test_a_value_with_a_providers_format_is_named_by_it() -> None:
    (only,) = findings(b'api_key = "xoxb-123456789012-1234567890123-aB3dE5gH7jK9mN1pQ3sT5vW7"')
    assert only.kind == "slack-token"


def test_only_formats_of_providers_count_inside_encodings() -> None:
    assert provider_secret(b"password=hunter2") is None
    inside = provider_secret(b"x glpat-aB3dE5gH7jK9mN1pQ3sT y")
    assert inside is not None
    assert inside.value == b"glpat-aB3dE5gH7jK9mN1pQ3sT"
