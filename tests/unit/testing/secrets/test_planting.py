"""What is planted can be found where it was planted, is fresh for every seed, and is broad."""

from __future__ import annotations

from collections import Counter

from skillopt.testing.secrets import CONTEXT_KINDS, PROVIDER_KINDS, planted, planted_of

KINDS = (*PROVIDER_KINDS, *CONTEXT_KINDS)


def test_every_value_stands_in_its_line() -> None:
    assert all(secret.value and secret.value in secret.line for secret in planted(1, 1_000))


def test_there_are_more_than_sixty_formats_and_every_kind_is_planted() -> None:
    assert len(PROVIDER_KINDS) >= 60
    counts = Counter(secret.kind for secret in planted(1, 3 * len(KINDS)))
    assert set(counts) == set(KINDS)
    assert set(counts.values()) == {3}


def test_the_same_seed_plants_the_same() -> None:
    assert planted(7, 200) == planted(7, 200)
    assert planted(7, 200)[:50] == planted(7, 50)


def test_another_seed_plants_others() -> None:
    first, second = ({secret.value for secret in planted(seed, 300)} for seed in (1, 2))
    assert len(first & second) < 10


def test_only_the_kinds_asked_for_are_planted() -> None:
    assert {secret.kind for secret in planted_of(("jwt", "flag"), 1, 10)} == {"jwt", "flag"}


def test_none_is_none() -> None:
    assert planted(1, 0) == ()
