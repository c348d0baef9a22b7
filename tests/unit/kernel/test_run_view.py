from __future__ import annotations

from skillopt.kernel.events import CandidateMade, FrontierMerged, FrontierStood, GateDecided
from skillopt.kernel.run_view import SearchView

MADE = CandidateMade(step=2, skill_digest="u", changed=True, edits=())
MERGED = FrontierMerged(origin="merge_step_0002", better="a", better_digest="a", other="b", other_digest="b", made=MADE)


def gate(origin: str) -> GateDecided:
    return GateDecided(
        origin=origin,
        rule="strict",
        metric="hard",
        verdict="reject",
        action="reject",
        reason="",
        candidate=None,
        incumbent=None,
        best=None,
        n=0,
        failed=0,
        calls=0,
    )


def test_a_verdict_goes_to_the_union_that_it_names() -> None:
    merged = SearchView().after(MERGED)
    assert merged.decided(gate("step_0002")) == merged
    (settled,) = merged.decided(gate("merge_step_0002")).merges
    assert settled.gate == gate("merge_step_0002")
    assert SearchView().decided(gate("merge_step_0002")) == SearchView()


def test_the_parent_of_a_step_is_the_one_that_was_drawn_for_it() -> None:
    drawn = SearchView().after(FrontierStood(step=3, parent="step_0001", members=()))
    assert drawn.parent_of(3) == "step_0001"
    assert drawn.parent_of(4) is None
    assert SearchView().parent_of(1) is None
    assert drawn.after(FrontierStood(step=3, parent="", members=())).parent_of(3) is None
