from __future__ import annotations

import pytest

from skillopt.domain.errors import UnavailableError, UsageError
from skillopt.domain.skill import Skill
from skillopt.kernel.events import PassagesTried, PruneDecided
from skillopt.testing.conversation import BrainReply, Conversation
from skillopt.testing.faults import FaultKind
from skillopt.train.pruning.prune import PrunePlan
from skillopt.train.pruning.settings import PruneSettings
from tests.simulation.pruning import Gardened, Planted, garden, tend
from tests.unit.train.pruning.boards import tasks


def tried(tended: Gardened) -> list[PassagesTried]:
    return [event for event in tended.events if isinstance(event, PassagesTried)]


def test_groups_go_whole_or_are_halved_down_to_one() -> None:
    tended = tend(garden(5, useless=8))
    assert tended.error is None
    sizes = [len(each.lines) for each in tried(tended)]
    assert sizes[0] == 4
    assert [each.number for each in tried(tended)] == list(range(1, len(sizes) + 1))
    for each, size, following in zip(tried(tended), sizes, [*sizes[1:], 0], strict=True):
        assert each.taken_out is (not each.lost)
        assert each.taken_out or size == 1 or following == size // 2
    gone = {line for each in tried(tended) if each.taken_out for line in each.lines}
    assert tended.pruned is not None
    assert gone == {(passage.first_line, passage.last_line) for passage in tended.pruned.taken_out}


def test_a_skill_of_which_every_passage_is_of_use_stays_as_it_is() -> None:
    home = garden(7, useless=0)
    tended = tend(home)
    assert tended.pruned is not None
    assert tended.pruned.skill == home.planted.skill
    assert tended.pruned.taken_out == ()
    (decided,) = (event for event in tended.events if isinstance(event, PruneDecided))
    assert (decided.confirmed, decided.reason, decided.calls) == (False, "every passage is of use", 0)


def test_a_skill_without_passages_costs_the_first_look_only() -> None:
    home = garden(7).but(planted=Planted(skill=Skill.from_text("# Title\n"), useful=frozenset(), useless=frozenset()))
    tended = tend(home)
    assert tended.pruned is not None
    assert tended.target.calls == 80
    assert tried(tended) == []


@pytest.mark.parametrize("fault", [FaultKind.CONTEXT, None])
def test_a_skill_that_solves_nothing_cannot_be_pruned(fault: FaultKind | None) -> None:
    def wrong(_conversation: Conversation) -> BrainReply:
        return BrainReply(text="<answer>never</answer>", fault=fault)

    tended = tend(garden(7).but(brain=wrong))
    assert isinstance(tended.error, UnavailableError)
    assert "none of the 40 val tasks reliably" in tended.error.message


def test_too_few_tasks_for_the_margin_are_refused_before_anything_is_asked() -> None:
    with pytest.raises(UsageError, match="6 val tasks in 10 trials cannot show a loss") as caught:
        PrunePlan(skill=Skill.from_text("Be brief."), val=tasks(6))
    assert caught.value.hint is not None
    assert "prune.trials to 12" in caught.value.hint
    PrunePlan(skill=Skill.from_text("Be brief."), val=tasks(6), settings=PruneSettings(trials=12))
