"""Innocent lines: many, varied, and the same for the same seed."""

from __future__ import annotations

from skillopt.testing.secrets import hard_negatives


def test_the_same_seed_gives_the_same_lines() -> None:
    assert hard_negatives(1, 400) == hard_negatives(1, 400)
    assert hard_negatives(1, 400) != hard_negatives(2, 400)


def test_they_are_varied() -> None:
    assert len(set(hard_negatives(1, 1_200))) > 700


def test_no_field_is_left_open() -> None:
    assert not [line for line in hard_negatives(1, 300) if "{word}" in line or "{hex" in line]


def test_they_are_single_lines() -> None:
    assert not [line for line in hard_negatives(1, 300) if "\n" in line]
