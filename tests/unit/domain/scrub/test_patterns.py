"""The gate opens for everything a rule may know, and its hits can be sorted."""

from __future__ import annotations

import pytest

from skillopt.domain.scrub.patterns import compiled, gate_with
from skillopt.testing.secrets import Planted, hard_negatives, planted


@pytest.mark.parametrize("secret", planted(11, 130), ids=lambda secret: secret.kind)
def test_the_gate_opens_for_a_secret_and_names_its_hit(secret: Planted) -> None:
    hit = compiled().gate.search(secret.line.encode())
    assert hit is not None
    assert compiled().alternatives.Match(hit.group())


def test_the_gate_stays_shut_for_most_innocent_lines() -> None:
    lines = hard_negatives(3, 500)
    assert sum(compiled().gate.search(line.encode()) is not None for line in lines) < 0.7 * len(lines)


def test_known_values_open_the_gate_too() -> None:
    assert compiled().gate.search(b"a b.c*d e") is None
    assert gate_with([b"b.c*d"]).search(b"a b.c*d e") is not None
    assert gate_with([b"b.c*d"]).search(b"a bxccd e") is None
