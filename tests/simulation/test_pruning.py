"""Pruning skills with planted sentences of no use, over many seeds: what must go goes, and nothing else ever does."""

from __future__ import annotations

import sys

import msgspec
import pytest

from skillopt.domain.errors import BudgetReachedError, StoreError
from skillopt.domain.seeds import dice
from skillopt.kernel.events import PruneDecided, SkillKept
from skillopt.kernel.memory import MemoryShelf
from skillopt.testing.brains import BRAINS
from skillopt.testing.conversation import Brain, BrainReply, Conversation
from skillopt.testing.faults import FaultPlan
from skillopt.train.pruning.settings import PruneSettings
from tests.simulation.pruning import Garden, garden, held, tend


def noisy(rate: float) -> Brain:
    """Return a target that also gets an answer wrong by chance, as its count of calls falls."""
    calls = iter(range(10**9))

    def reply(conversation: Conversation) -> BrainReply:
        if dice("slip", conversation.digest, next(calls)).random() < rate:
            return BrainReply(text="<answer>I forgot.</answer>")
        return BRAINS["hidden-rules"](conversation)

    return reply


def reaped(homes: list[Garden]) -> tuple[float, int]:
    """Return the share of useless sentences that went, and how many useful ones did."""
    gone, useless, harmed = 0, 0, 0
    for number, home in enumerate(homes, start=1):
        tended = tend(home)
        assert tended.pruned is not None, f"seed {number}: {tended.error!r}"
        left = tended.pruned.skill
        gone += len(home.planted.useless) - len(held(left, home.planted.useless))
        useless += len(home.planted.useless)
        lost = home.planted.useful - held(left, home.planted.useful)
        assert not lost, f"seed {number} lost {sorted(lost)}"
        harmed += len(lost)
    return gone / useless, harmed


@pytest.mark.parametrize(("val", "faults"), [(40, 0.0), (12, 0.0), (40, 0.25)])
def test_planted_useless_sentences_go_and_useful_ones_stay(val: int, faults: float) -> None:
    homes = [garden(seed, val=val).but(faults=FaultPlan.random(seed, faults)) for seed in range(1, 21)]
    recall, harmed = reaped(homes)
    sys.stdout.write(f"val {val}, faults {faults}: recall {recall:.3f}, useful removed {harmed}, 20 seeds\n")
    assert recall >= 0.9
    assert harmed == 0


def test_a_target_that_slips_costs_recall_and_never_a_useful_sentence() -> None:
    recall, harmed = reaped([garden(seed).but(brain=noisy(0.03)) for seed in range(1, 16)])
    sys.stdout.write(f"3 % slips: recall {recall:.3f}, useful removed {harmed}, 15 seeds\n")
    assert recall >= 0.7
    assert harmed == 0


def test_sentences_that_can_stand_for_each_other_are_not_both_taken() -> None:
    for seed in range(1, 6):
        home = garden(seed, useless=2)
        one = sorted(home.planted.useful)[0]
        text = home.planted.skill.text + f"\n## Again\n\n- {one}\n"
        twice = home.but(planted=msgspec.structs.replace(home.planted, skill=home.planted.skill.from_text(text)))
        tended = tend(twice)
        assert tended.pruned is not None, f"seed {seed}"
        assert tended.pruned.skill.text.count(one) == 1, f"seed {seed}"


def test_a_kill_after_any_record_changes_nothing() -> None:
    home = garden(3, useless=2, val=8).but(settings=PruneSettings(margin=0.3))
    whole = tend(home)
    assert whole.error is None
    for kill in range(1, whole.appended + 1, 11):
        shelf = MemoryShelf()
        killed, resumed = tend(home, shelf, kill_at=kill), tend(home, shelf)
        assert isinstance(killed.error, StoreError), kill
        assert resumed.events == whole.events, kill
        assert resumed.pruned == whole.pruned, kill
        assert killed.target.served + resumed.target.served <= whole.target.served + killed.in_flight_at_kill, kill


@pytest.mark.parametrize("faults", [0.0, 0.3])
def test_any_number_of_workers_gives_the_same(faults: float) -> None:
    for seed in range(1, 4):
        home = garden(seed, useless=4, val=12).but(faults=FaultPlan.random(seed, faults))
        whole = tend(home)
        for width in (1, 2, 64):
            limits = msgspec.structs.replace(home.limits, concurrency=width)
            assert tend(home.but(limits=limits)).events == whole.events, f"seed {seed}, {width} workers"


def test_a_cap_stops_it_and_more_room_lets_it_go_on() -> None:
    home = garden(2, useless=3, val=12)
    whole = tend(home)
    for calls in (0, 30, 100):
        shelf = MemoryShelf()
        limits = msgspec.structs.replace(home.limits, calls=calls)
        stopped = tend(home.but(limits=limits), shelf)
        assert isinstance(stopped.error, BudgetReachedError), calls
        assert stopped.target.calls <= calls
        assert tend(home, shelf).events == whole.events, calls


def test_the_pruned_skill_is_told_and_the_regions_of_others_are_not_touched() -> None:
    home = garden(4, useless=6)
    block = "\n<!-- APPENDIX_START -->\n- Think twice.\n<!-- APPENDIX_END -->\n"
    skill = home.planted.skill.from_text(home.planted.skill.text + block)
    tended = tend(home.but(planted=msgspec.structs.replace(home.planted, skill=skill)))
    assert tended.pruned is not None
    assert tended.pruned.taken_out
    assert tended.pruned.skill.text.endswith(block)
    assert tended.pruned.skill.front_matter == skill.front_matter
    (decided,) = (event for event in tended.events if isinstance(event, PruneDecided))
    told = {event.digest: event.files for event in tended.events if isinstance(event, SkillKept)}
    assert told[decided.pruned_digest]["SKILL.md"] == tended.pruned.skill.text
    assert (decided.confirmed, decided.loss, decided.failed) == (True, 0.0, 0)
