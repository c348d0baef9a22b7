from __future__ import annotations

import msgspec
import pytest

from skillopt.kernel.events import FrontierMerged, FrontierStood, PhaseBegan, SlowUpdated, StepBegan
from skillopt.train.settings import SearchSettings
from tests.simulation.house import Lived, house, live
from tests.simulation.memory_house import memory_house
from tests.simulation.test_frontier import by_luck, searching


@pytest.fixture(scope="module")
def lived() -> Lived:
    return live(by_luck(7))


def test_the_parent_is_told_before_its_step_and_the_last_members_at_the_end(lived: Lived) -> None:
    told = [event for event in lived.events if isinstance(event, FrontierStood | StepBegan)]
    for stood, began in zip(told[:-1:2], told[1::2], strict=True):
        assert isinstance(stood, FrontierStood)
        assert isinstance(began, StepBegan)
        parent = next(member for member in stood.members if member.origin == stood.parent)
        assert (stood.step, parent.skill_digest) == (began.step, began.skill_digest)
    last = told[-1]
    assert isinstance(last, FrontierStood)
    assert (last.step, last.parent) == (len(lived.records), "")


def test_unions_are_gated_under_a_name_of_their_own_and_never_twice(lived: Lived) -> None:
    merged = lived.events_of(FrontierMerged)
    assert len(merged) > 1
    assert [event.origin for event in merged] == [f"merge_step_{event.made.step:04d}" for event in merged]
    assert all(event.made.step % 2 == 0 for event in merged)
    paths = {event.path for event in lived.events_of(PhaseBegan)}
    assert {f"{event.origin.removeprefix('merge_')}/{event.origin}/val" for event in merged} <= paths
    for event in merged:
        made = lived.view.skills[event.made.skill_digest].files["SKILL.md"]
        assert all(edit.content in made for edit in event.made.edits if edit.status == "applied")
    assert len({event.made.skill_digest for event in merged}) == len(merged)


def test_merging_can_wait_for_the_end_of_an_epoch_or_never_happen() -> None:
    at_ends = [live(by_luck(seed, SearchSettings(frontier=3))) for seed in range(1, 8)]
    steps = [event.made.step for lived in at_ends for event in lived.events_of(FrontierMerged)]
    assert steps
    assert {step % 3 for step in steps} == {0}, "an epoch takes three steps"
    never = [live(by_luck(seed, SearchSettings(frontier=3, merge_every=0))) for seed in range(1, 8)]
    assert not [event for lived in never for event in lived.events_of(FrontierMerged)]


def test_an_epoch_is_looked_back_on_from_the_best() -> None:
    looked = 0
    for seed in range(1, 8):
        lived = live(searching(memory_house(seed, slow="gated"), SearchSettings(frontier=3)))
        for epoch in lived.view.epochs:
            assert epoch.ended is not None
            assert epoch.ended.current_origin == epoch.ended.best_origin, f"seed {seed}"
            looked += 1
        assert lived.events_of(SlowUpdated)
    assert looked


def test_without_a_choice_nothing_is_told() -> None:
    home = house(3)
    plan = msgspec.structs.replace(home.plan, search=SearchSettings(merge_every=1))
    lived = live(home.but(plan=plan))
    assert not lived.events_of(FrontierStood)
    assert [record.parent_origin for record in lived.records[:1]] == ["initial_skill"]
    for before, after in zip(lived.records, lived.records[1:], strict=False):
        assert after.parent_origin == before.current_origin
