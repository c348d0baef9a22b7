from __future__ import annotations

import pytest

from skillopt.train.epochs import epoch_rows, meta_result, pair_rows, slow_result
from tests.simulation.house import Lived, live
from tests.simulation.memory_house import memory_house


@pytest.fixture(scope="module")
def lived() -> Lived:
    return live(memory_house(11, slow="force", pairs="mixed"))


def test_every_epoch_has_its_row(lived: Lived) -> None:
    rows = epoch_rows(lived.view, lived.records)
    assert [row.epoch for row in rows] == [1, 2, 3]
    assert rows[0].slow_update == "inject_placeholder"
    assert rows[0].meta_skill == "skip_first_epoch"
    assert rows[-1].current_origin == lived.summary.current_origin
    assert rows[-1].best_origin == lived.summary.best_origin
    assert sum(row.steps for row in rows) == len(lived.records)
    assert lived.summary.epochs == rows


def test_an_epoch_that_is_not_closed_says_null() -> None:
    lived = live(memory_house(8))
    (row,) = epoch_rows(lived.view, lived.records[:1])
    assert row.slow_update is not None
    early = epoch_rows(type(lived.view)(), lived.records[:1])[0]
    assert (early.slow_update, early.meta_skill, early.current_score, early.current_origin) == (None, None, None, None)


def test_a_slow_update_is_told_with_what_was_measured(lived: Lived) -> None:
    told = [slow_result(epoch) for epoch in lived.view.epochs]
    forced = [each for each in told if each is not None and each.action == "force_accept"]
    assert forced
    for each in forced:
        score = lived.view.score(each.update_origin, "val")
        assert score is not None
        assert (each.selection_hard, each.selection_n) == (score.mean.hard, score.mean.n)
        assert sum(each.pairs.values()) == 4
        assert each.slow_update_content
    assert told[0] is not None
    assert (told[0].selection_hard, told[0].prev_hard, told[0].pair_policy) == (None, None, None)


def test_means_are_those_of_the_pairs(lived: Lived) -> None:
    for epoch in lived.view.epochs[1:]:
        told = slow_result(epoch)
        assert told is not None
        assert epoch.compared is not None
        rows = pair_rows(epoch.compared.pairs)
        assert told.prev_hard == sum(row.prev_hard for row in rows) / len(rows)
        assert told.curr_hard == sum(row.curr_hard for row in rows) / len(rows)


def test_the_advice_is_told(lived: Lived) -> None:
    told = meta_result(lived.view.epochs[1])
    assert told is not None
    assert (told.epoch, told.action) == (2, "write_meta_skill")
    assert told.meta_skill_content
