from __future__ import annotations

import msgspec

from skillopt.domain.skill import Skill
from skillopt.phases.consolidate.pairs import Comparison, Told
from skillopt.phases.consolidate.showing import both_skills, compared
from tests.unit.phases.consolidate.comparisons import comparison


def test_losses_come_first_and_stable_tasks_without_their_answers() -> None:
    told = "\n\n".join(compared(comparison("1010", "1100"), 6000))
    places = [told.index(f"<t{number}>") for number in (2, 3, 1, 0)]
    assert places == sorted(places)
    assert "then to t2" in told
    assert "now to t2" in told
    assert "then is 1" in told
    assert "then to t0" not in told


def test_counts_are_told_of_every_kind() -> None:
    counts = compared(comparison("1010", "1100"), 6000)[0]
    assert counts.count(": 1") == 4


def test_long_answers_are_shortened_and_many_pairs_leave_less_for_each() -> None:
    def long(count: int) -> Comparison:
        found = comparison("1" * count, "0" * count)
        kept = tuple(
            msgspec.structs.replace(pair, before=Told(text="y" * 50_000, score=pair.before.score))
            for pair in found.kept
        )
        return Comparison(pairs=kept, kept=kept)

    one, many = ("\n".join(compared(long(count), 6000)) for count in (1, 200))
    assert "characters left out" in one
    assert len(one) < 4000
    assert len(many) < 200_000


def test_the_skill_in_use_stands_last() -> None:
    told = "\n".join(both_skills(Skill.from_text("Old.\n"), Skill.from_text("New.\n")))
    assert told.index("Old.") < told.index("New.")
