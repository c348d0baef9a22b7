from __future__ import annotations

from collections.abc import Sequence

import msgspec

from skillopt.cli.words import comparison_lines
from skillopt.kernel.events import EditFact
from skillopt.kernel.view import RunView
from skillopt.train.comparison import Compared, Recorded, comparison
from tests.unit.train.written_runs import measured, summary_of

WRONG, RIGHT = [False] * 10, [True] * 10


def recorded(right: Sequence[bool] | None, tests: str = "same") -> Recorded:
    seen = () if right is None else (measured("best", "test", sum(right) / len(right), right),)
    view = RunView(measured=seen)
    return Recorded(summary=summary_of(view), view=view, tests=tests)


def against(first: Recorded, *others: Recorded) -> Sequence[Compared]:
    return comparison([first, *others])[1:]


def test_a_clear_gain_is_more_than_noise() -> None:
    (other,) = against(recorded(WRONG), recorded(RIGHT))
    assert other.against is not None
    assert (other.against.n, other.against.better, other.against.difference) == (10, 10, 1.0)
    assert other.beyond_noise


def test_a_flip_or_two_is_noise() -> None:
    (other,) = against(recorded(RIGHT), recorded([*RIGHT[2:], False, False]))
    assert other.beyond_noise is False


def test_what_cannot_be_paired_says_why() -> None:
    others = against(recorded(RIGHT), recorded(RIGHT, tests="other"), recorded(None))
    assert [other.against for other in others] == [None, None]
    assert [other.beyond_noise for other in others] == [None, None]
    assert "test tasks differ" in others[0].why_not
    assert "was not measured on test" in others[1].why_not


def test_a_run_alone_is_only_shown() -> None:
    (alone,) = comparison([recorded(RIGHT)])
    edits: tuple[EditFact, ...] = ()
    assert (alone.against, alone.why_not, alone.edits) == (None, "", edits)


def test_a_val_score_says_whether_its_trials_chose_the_winner() -> None:
    chosen = recorded(RIGHT)
    claimed = msgspec.structs.replace(chosen, summary=msgspec.structs.replace(chosen.summary, claimed_val=0.9))
    assert [each.chosen_by_val for each in comparison([chosen, claimed])] == [True, False]
    told = "\n".join(comparison_lines(comparison([chosen, claimed])))
    assert told.count("which chose it") == told.count("in trials of its own") == 1
