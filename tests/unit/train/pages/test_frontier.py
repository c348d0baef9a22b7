from __future__ import annotations

import msgspec

from skillopt.train.pages.frontier import frontier
from skillopt.train.pages.markup import together
from skillopt.train.pages.page import page
from tests.simulation.house import house, live
from tests.simulation.test_frontier import by_luck


def test_the_members_and_the_unions_are_listed() -> None:
    lived = live(by_luck(7))
    shown = together(frontier(lived.view.search)).markup
    members = lived.view.search.stood[-1].members
    assert shown.count("<tr>") == 2 + len(members) + len(lived.view.search.merges)
    assert all(member.origin.replace("_", " ") in shown for member in members)
    assert "left since" in shown
    assert '<h2 id="frontier">' in page(lived.view, lived.summary)


def test_words_of_a_model_are_text() -> None:
    search = live(by_luck(7)).view.search
    gate = search.merges[0].gate
    assert gate is not None
    evil = msgspec.structs.replace(gate, reason="<script>alert(1)</script>")
    merges = (msgspec.structs.replace(search.merges[0], gate=evil),)
    shown = together(frontier(msgspec.structs.replace(search, merges=merges))).markup
    assert "&lt;script&gt;" in shown
    assert "<script" not in shown


def test_without_a_choice_there_is_no_section() -> None:
    lived = live(house())
    assert not list(frontier(lived.view.search))
    assert 'id="frontier"' not in page(lived.view, lived.summary)
