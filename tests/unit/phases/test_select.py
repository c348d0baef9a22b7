from __future__ import annotations

import pytest

from skillopt.domain.skill import Edit, EditOp, Patch
from skillopt.phases.select import first_of

MERGED = Patch(reasoning="Why.", edits=tuple(Edit(op=EditOp.APPEND, content=word) for word in ("a", "b", "c")))


@pytest.mark.parametrize(("budget", "kept"), [(None, "abc"), (0, ""), (2, "ab"), (3, "abc"), (9, "abc")])
def test_the_first_edits_up_to_the_budget_are_kept(budget: int | None, kept: str) -> None:
    chosen = first_of(MERGED, budget)
    assert "".join(edit.content for edit in chosen.edits) == kept
    assert chosen.reasoning == "Why."
