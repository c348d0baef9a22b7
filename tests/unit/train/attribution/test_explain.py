from __future__ import annotations

import pytest

from skillopt.domain.errors import UsageError
from skillopt.train.attribution.blame import SEED, blame_of
from skillopt.train.attribution.explain import Explained, Page, explained
from tests.simulation.house import house, live


@pytest.fixture(scope="module")
def whole() -> Explained:
    lived = live(house(14))
    assert lived.view.ended is not None
    digest = lived.view.ended.best_digest
    return explained(blame_of(lived.events), Page(run="run", skill_digest=digest, file="SKILL.md"))


def one(number: int) -> Explained:
    lived = live(house(14))
    assert lived.view.ended is not None
    page = Page(run="run", skill_digest=lived.view.ended.best_digest, file="SKILL.md")
    return explained(blame_of(lived.events), page, number)


def test_a_page_names_each_origin_once(whole: Explained) -> None:
    assert [line.number for line in whole.lines] == list(range(1, len(whole.lines) + 1))
    assert [origin.name for origin in whole.origins] == list(dict.fromkeys(line.origin for line in whole.lines))
    assert whole.origin(SEED).gate is None


def test_one_line_is_that_line_of_the_page(whole: Explained) -> None:
    last = len(whole.lines)
    assert one(last).lines == whole.lines[-1:]
    assert one(1).lines == whole.lines[:1]
    assert one(1).line == 1
    assert [origin.name for origin in one(last).origins] == [whole.lines[-1].origin]


@pytest.mark.parametrize("number", [0, 999])
def test_a_line_that_is_not_there_is_refused(number: int) -> None:
    with pytest.raises(UsageError, match=f"there is no line {number}"):
        one(number)
