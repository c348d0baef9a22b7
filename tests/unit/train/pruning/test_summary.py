from __future__ import annotations

import msgspec

from skillopt.kernel.events import PassagesTried, PruneDecided, SkillKept
from skillopt.kernel.view import RunView, view_of
from skillopt.train.pruning.summary import TakenOut, pruned_files, taken_out
from tests.unit.kernel.test_events import EXAMPLES

TRIED = PassagesTried(
    number=1, lines=((1, 1), (3, 4)), texts=("One.", "Two."), taken_out=True, lost=(), unmeasured=(), calls=3
)
ORIGINAL = {"SKILL.md": "One.\nKept.\nTwo.\nwords\n"}


def seen(*, confirmed: bool) -> RunView:
    decided = EXAMPLES[PruneDecided]
    assert isinstance(decided, PruneDecided)
    return view_of(
        [
            TRIED,
            msgspec.structs.replace(TRIED, number=2, texts=("Kept.",), lines=((2, 2),), taken_out=False),
            SkillKept(digest="s2", name=None, files={"SKILL.md": "Kept.\n"}),
            msgspec.structs.replace(decided, confirmed=confirmed),
        ]
    )


def test_what_was_confirmed_is_what_went() -> None:
    assert taken_out(seen(confirmed=True)) == (
        TakenOut(first_line=1, last_line=1, text="One."),
        TakenOut(first_line=3, last_line=4, text="Two."),
    )
    assert pruned_files(seen(confirmed=True), ORIGINAL) == {"SKILL.md": "Kept.\n"}


def test_without_a_confirmation_the_original_stays() -> None:
    for view in (seen(confirmed=False), view_of([TRIED])):
        assert taken_out(view) == ()
        assert pruned_files(view, ORIGINAL) == ORIGINAL
