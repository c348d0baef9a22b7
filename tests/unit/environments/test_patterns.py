from __future__ import annotations

import pytest

from skillopt.domain.errors import UsageError
from skillopt.environments.patterns import compiled


def test_a_pattern_searches_and_is_case_sensitive() -> None:
    match = compiled(r"[Cc]onfidence\s*[:=]\s*(\w+)").search("So: confidence: high")
    assert match is not None
    assert match.group(1) == "high"
    assert compiled("yes").search("YES") is None


def test_letters_beyond_ascii_are_found_where_they_are() -> None:
    assert [match.group() for match in compiled("é.").finditer("aéb日éc")] == ["éb", "éc"]


@pytest.mark.parametrize("pattern", ["(?=a)", r"(a)\1", "(", "[", "a{5000}"])
def test_what_is_not_re2_is_refused_with_the_pattern(pattern: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError) as refused:
        compiled(pattern)
    assert repr(pattern) in str(refused.value)
    assert "RE2" in str(refused.value)
    assert capfd.readouterr().err == ""


def test_a_pattern_that_would_hang_elsewhere_answers() -> None:
    assert compiled("(a*)*b").search("a" * 50_000) is None
