from __future__ import annotations

import json

import msgspec
import pytest

from skillopt.domain.seeds import shuffled
from skillopt.domain.skill import Region, Skill, region_content
from skillopt.kernel.events import (
    EpochCompared,
    EpochEnded,
    Measured,
    MetaSkillWritten,
    PhaseBegan,
    RunEnded,
    SlowUpdated,
    StepEnded,
)
from skillopt.phases.consolidate.slow_update import SlowUpdateSettings
from skillopt.phases.reflect import ReflectSettings
from skillopt.testing.brains import BRAINS
from skillopt.testing.conversation import BrainReply, Conversation
from tests.simulation.house import House, Lived, house, live

MIXED = SlowUpdateSettings(samples=5)


def remembering(home: House, *, meta_skill: bool = True, slow_update: SlowUpdateSettings = MIXED) -> House:
    optimizer = msgspec.structs.replace(home.plan.optimizer, meta_skill=meta_skill, slow_update=slow_update)
    return home.but(plan=msgspec.structs.replace(home.plan, optimizer=optimizer))


@pytest.fixture(scope="module")
def lived() -> Lived:
    return live(remembering(house(14, epochs=3)))


def skill_at(lived: Lived, digest: str) -> Skill:
    return Skill.from_files(lived.view.skills[digest].files)


def test_the_first_epoch_makes_a_place_and_costs_nothing(lived: Lived) -> None:
    first = lived.events_of(SlowUpdated)[0]
    assert (first.action, first.origin) == ("inject_placeholder", "slow_update_placeholder_epoch_01")
    assert region_content(skill_at(lived, first.skill_digest), Region.SLOW_UPDATE) == ""
    assert lived.events_of(MetaSkillWritten)[0].action == "skip_first_epoch"
    assert not [each for each in lived.events_of(PhaseBegan) if each.path.startswith("epoch_01/")]
    assert lived.events_of(EpochEnded)[0].current_origin == lived.events_of(StepEnded)[1].current_origin


def test_an_epoch_is_compared_with_the_end_of_the_one_before(lived: Lived) -> None:
    ends = {each.epoch: each for each in lived.events_of(EpochEnded)}
    steps = {each.epoch: each for each in lived.events_of(StepEnded)}
    compared = lived.events_of(EpochCompared)
    assert [each.epoch for each in compared] == [2, 3]
    for each in compared:
        assert each.before_digest == ends[each.epoch - 1].skill_digest
        assert each.now_digest == steps[each.epoch].skill_digest


def test_the_sample_is_the_published_one(lived: Lived) -> None:
    train = [task.id for task in house(14).plan.tasks.train]
    for compared in lived.events_of(EpochCompared):
        drawn = shuffled(train, house(14).plan.train.seed + 2000 * compared.epoch)[:5]
        assert [pair.task_id for pair in compared.pairs] == list(drawn)


def test_advice_reaches_the_next_epoch_only() -> None:
    shown: dict[str, list[str]] = {}
    number = 0

    def brain(conversation: Conversation) -> BrainReply:
        nonlocal number
        kind = conversation.system.splitlines()[0]
        if kind == "Task: meta skill":
            number += 1
            return BrainReply(text=json.dumps({"meta_skill_content": f"Advice number {number}."}))
        if kind == "Task: reflect":
            shown.setdefault(conversation.asked.partition("# Advice from the last epoch\n\n")[2][:16], []).append(kind)
        return BRAINS["rules"](conversation)

    home = remembering(house(2, epochs=4)).but(optimizer_brain=brain)
    lived = live(home)
    written = [each.content for each in lived.events_of(MetaSkillWritten)]
    assert written == ["", "Advice number 1.", "Advice number 2.", "Advice number 3."]
    assert set(shown) == {"", "Advice number 1.", "Advice number 2."}
    assert all("Advice number" not in kept.files["SKILL.md"] for kept in lived.view.skills.values())


@pytest.mark.parametrize("ledger", [True, False])
def test_without_the_ledger_the_meta_skill_is_told_of_no_earlier_step(*, ledger: bool) -> None:
    asked = list[str]()

    def brain(conversation: Conversation) -> BrainReply:
        if conversation.system.startswith("Task: meta skill"):
            asked.append(conversation.asked)
        return BRAINS["rules"](conversation)

    live(remembering(house(14)).but(optimizer_brain=brain, reflect=ReflectSettings(minibatch_size=3, ledger=ledger)))
    assert asked
    assert all(("# Earlier steps" in text) is ledger for text in asked)


def test_without_a_slow_update_the_meta_skill_draws_its_own_sample() -> None:
    off = SlowUpdateSettings(enabled=False, samples=3)
    lived = live(remembering(house(14), slow_update=off))
    (compared,) = lived.events_of(EpochCompared)
    assert len(compared.pairs) == 3
    assert not lived.events_of(SlowUpdated)
    assert [each.action for each in lived.events_of(MetaSkillWritten)] == ["skip_first_epoch", "write_meta_skill"]


def test_with_both_off_nothing_is_asked_and_epochs_still_end() -> None:
    lived = live(remembering(house(14), meta_skill=False, slow_update=SlowUpdateSettings(enabled=False)))
    assert [each.epoch for each in lived.events_of(EpochEnded)] == [1, 2]
    assert not [each for each in lived.events_of(PhaseBegan) if each.path.startswith("epoch_")]


def test_a_run_that_ends_with_an_epoch_does_not_look_back_on_it() -> None:
    def right(conversation: Conversation) -> BrainReply:
        known = msgspec.structs.replace(
            conversation,
            turns=tuple(
                msgspec.structs.replace(turn, text=turn.text.replace("[needs:", "[knows:"))
                for turn in conversation.turns
            ),
        )
        return BRAINS["rules"](known)

    home = remembering(house(14, epochs=4)).but(target_brain=right)
    lived = live(home)
    (ended,) = lived.events_of(RunEnded)
    assert ended.stop_reason == "solved"
    assert lived.events_of(EpochEnded)
    assert len(lived.events_of(SlowUpdated)) == len(lived.events_of(EpochEnded)) - 1


def test_the_same_skill_is_not_compared_where_changes_are_wanted() -> None:
    def idle(conversation: Conversation) -> BrainReply:
        if conversation.system.startswith("Task: reflect"):
            return BrainReply(text='{"patch": {"reasoning": "Fine.", "edits": []}}')
        return BRAINS["rules"](conversation)

    changed = SlowUpdateSettings(samples=3, pairs="changed")
    lived = live(remembering(house(14, epochs=3), slow_update=changed).but(optimizer_brain=idle))
    assert not lived.events_of(EpochCompared)
    assert {each.action for each in lived.events_of(SlowUpdated)} == {"inject_placeholder", "no_content"}


def test_an_accepted_slow_update_is_where_the_skill_came_from() -> None:
    lived = live(remembering(house(14), slow_update=SlowUpdateSettings()))
    accepted = [each for each in lived.events_of(SlowUpdated) if each.action == "accept_new_best"]
    assert accepted, "the seed of this house is chosen for it"
    ended = next(each for each in lived.events_of(EpochEnded) if each.epoch == accepted[0].epoch)
    assert ended.current_origin == ended.best_origin == accepted[0].origin
    assert ended.best_step == ended.step
    assert ended.skill_digest == accepted[0].skill_digest
    assert accepted[0].origin in {each.label for each in lived.events_of(Measured)}
    assert lived.summary.best_origin == accepted[0].origin


def test_what_is_refused_is_told_and_changes_nothing() -> None:
    def hiding(conversation: Conversation) -> BrainReply:
        if conversation.system.startswith("Task: slow update"):
            return BrainReply(text=json.dumps({"slow_update_content": "See <!-- below -->"}))
        return BRAINS["rules"](conversation)

    lived = live(remembering(house(14)).but(optimizer_brain=hiding))
    assert lived.events_of(SlowUpdated)[-1].action == "refused"
    assert any("HTML comment" in warning for warning in lived.view.warnings)
