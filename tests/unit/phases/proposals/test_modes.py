from __future__ import annotations

import json

import pytest

from skillopt.domain.skill import Draft, Edit, EditOp, Suggestion
from skillopt.kernel.dialogue import parse_reply
from skillopt.phases.proposals.modes import MODES

CHANGES = {
    "patch": Edit(op=EditOp.REPLACE, content="é", target="b", support=3, tasks=("t",)),
    "rewrite_from_suggestions": Suggestion(
        kind="compress", title="T", motivation="M", instruction="I", priority_hint="low", support=3, tasks=("t",)
    ),
    "full_rewrite_minibatch": Draft(title="T", change_summary=("a", "b"), new_skill="# S", support=3, tasks=("t",)),
}


@pytest.mark.parametrize("name", MODES)
def test_what_a_prompt_shows_can_be_answered_word_for_word(name: str) -> None:
    mode, change = MODES[name], CHANGES[name]
    shown = mode.shown([change])
    (read,) = parse_reply(shown, mode.merging).changes()
    assert read.words == change.words
    assert type(read) is type(change)
    assert (read.support, read.tasks) == (1, ()), "a reply's word on its own support is not heard"
    assert json.loads(shown)[mode.key][0]["support"] == 3
    assert "t" not in json.loads(shown)[mode.key][0].values(), "no task is named"


@pytest.mark.parametrize("name", MODES)
def test_numbers_count_from_zero(name: str) -> None:
    rows = json.loads(MODES[name].shown([CHANGES[name]] * 3, numbered=True))[MODES[name].key]
    assert [row["index"] for row in rows] == [0, 1, 2]


def test_only_whole_documents_are_not_counted() -> None:
    assert [name for name, mode in MODES.items() if not mode.counted] == ["full_rewrite_minibatch"]
