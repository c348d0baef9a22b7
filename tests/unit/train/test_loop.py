from __future__ import annotations

import msgspec
import pytest

from skillopt.domain.tasks import TaskSet
from skillopt.environments.dataset import Dataset, DatasetSettings
from skillopt.kernel.events import (
    BatchGraded,
    CandidateMade,
    GateDecided,
    Measured,
    PhaseBegan,
    RunEnded,
    StepBegan,
    StepEnded,
)
from skillopt.testing.brains import BRAINS
from skillopt.testing.conversation import BrainReply, Conversation, Turn
from skillopt.train.settings import StopSettings, TrainSettings
from tests.simulation.house import House, house, live


def idle(_conversation: Conversation) -> BrainReply:
    return BrainReply(text='{"patch": {"reasoning": "Fine as it is.", "edits": []}}')


def useless(conversation: Conversation) -> BrainReply:
    edit = f'{{"op": "append", "content": "Note {conversation.digest} in passing."}}'
    return BrainReply(text=f'{{"patch": {{"reasoning": "", "edits": [{edit}]}}}}')


def planned(home: House, **changes: object) -> House:
    return home.but(plan=msgspec.structs.replace(home.plan, **changes))


def test_the_phases_come_in_their_order() -> None:
    lived = live(house(6))
    paths = [event.path for event in lived.events_of(PhaseBegan)]
    assert paths[:5] == [
        "start/baseline/val",
        "step_0001/rollout",
        "step_0001/reflect",
        "step_0001/rank",
        "step_0001/step_0001/val",
    ]
    assert paths[-3:] == ["end/baseline/test", "end/best/test", "end/last/test"]
    kinds = [type(event) for event in lived.events if isinstance(event, StepBegan | GateDecided | StepEnded | RunEnded)]
    assert kinds == [StepBegan, GateDecided, StepEnded] * 4 + [RunEnded]


def test_no_epochs_measure_the_seed_and_end() -> None:
    lived = live(planned(house(), train=TrainSettings(epochs=0)))
    assert lived.records == ()
    assert lived.best == house().plan.seed_skill.text
    assert lived.view.ended is not None
    assert lived.view.ended.stop_reason == "all steps done"


def test_a_target_reached_at_the_start_takes_no_step() -> None:
    lived = live(planned(house(), stop=StopSettings(target=0.0)))
    assert lived.records == ()
    assert lived.optimizer.calls == 0
    assert lived.view.ended is not None
    assert lived.view.ended.stop_reason == "target"


def test_patience_ends_after_steps_without_an_accept() -> None:
    lived = live(planned(house(2, epochs=9).but(optimizer_brain=useless), stop=StopSettings(patience=3)))
    assert [record.action for record in lived.records] == ["reject"] * 3
    assert lived.view.ended is not None
    assert lived.view.ended.stop_reason == "patience"


def test_a_solved_world_ends_early() -> None:
    def right(conversation: Conversation) -> BrainReply:
        turns = tuple(Turn(turn.speaker, turn.text.replace("[needs:", "[knows:")) for turn in conversation.turns)
        return BRAINS["rules"](msgspec.structs.replace(conversation, turns=turns))

    lived = live(house(epochs=9).but(target_brain=right, optimizer_brain=idle))
    assert lived.view.ended is not None
    assert lived.view.ended.stop_reason == "solved"
    assert len(lived.records) == 2, "one full pass of train"
    assert {record.action for record in lived.records} == {"skip_no_patches"}


def test_a_step_without_edits_costs_no_measurement() -> None:
    lived = live(house().but(optimizer_brain=idle))
    assert {record.action for record in lived.records} == {"skip_no_patches"}
    assert [event.label for event in lived.events_of(Measured) if event.split == "val"] == ["baseline"]
    assert not [event for event in lived.events_of(CandidateMade) if event.changed]
    for record in lived.records:
        assert (record.selection_hard, record.candidate_gate_score, record.selection_n) == (None, None, 0)


def test_without_test_tasks_the_run_ends_all_the_same() -> None:
    home = house(6)
    split = TaskSet.checked(train=home.plan.tasks.train, val=home.plan.tasks.val)
    environment = Dataset(DatasetSettings(path="tasks"), split)
    lived = live(planned(home.but(environment=environment), tasks=split))
    assert lived.error is None
    assert {event.split for event in lived.events_of(Measured)} == {"val"}
    assert lived.summary.scores.best.test is None


@pytest.mark.parametrize("accumulation", [1, 2])
def test_accumulated_microbatches_belong_to_one_step(accumulation: int) -> None:
    home = house(6)
    settings = msgspec.structs.replace(home.plan.train, batch_size=3, accumulation=accumulation)
    lived = live(planned(home, train=settings))
    batches = lived.events_of(BatchGraded)
    assert len(lived.records) == 8 // accumulation
    assert len(batches) == 8
    assert all(len(record.accumulation_batches) == accumulation for record in lived.records)
