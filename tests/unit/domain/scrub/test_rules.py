"""The table of formats is broad, and each of its rows is sound."""

from __future__ import annotations

import pytest

from skillopt.domain.scrub.patterns import compiled_bytes
from skillopt.domain.scrub.rules import RULES, SHAPES, Rule, Shape


def test_there_are_at_least_sixty_kinds() -> None:
    assert len({rule.kind for rule in RULES} | {shape.kind for shape in SHAPES}) >= 60


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.kind)
def test_a_rule_names_its_kind_and_beginning(rule: Rule) -> None:
    assert rule.kind.replace("-", "").isalnum()
    assert rule.kind.islower()
    assert rule.prefixes
    assert all(len(prefix) >= 2 for prefix in rule.prefixes)


@pytest.mark.parametrize("pattern", [*(rule.tail for rule in RULES), *(shape.pattern for shape in SHAPES)])
def test_no_pattern_matches_a_newline(pattern: str) -> None:
    compiled = compiled_bytes(pattern)
    assert not any(compiled.search(text) for text in (b"\n" * 300, b"\r\n" * 300))


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.kind)
def test_a_shape_has_at_most_one_group(shape: Shape) -> None:
    assert compiled_bytes(shape.pattern).groups <= 1
