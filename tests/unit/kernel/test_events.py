from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest

from skillopt.domain.agency.conduct import Conduct
from skillopt.domain.judging import Agreement
from skillopt.domain.usage import Usage
from skillopt.kernel.events import (
    AgentsWorked,
    AnswersJudged,
    BatchGraded,
    BudgetDecided,
    CandidateBisected,
    CandidateMade,
    EditFact,
    EpochCompared,
    EpochEnded,
    Event,
    FrontierMerged,
    FrontierStood,
    GateDecided,
    Mean,
    Measured,
    MemberFact,
    MetaSkillWritten,
    NotesTaken,
    PairFact,
    PairsCompared,
    PassagesTried,
    PatchProposed,
    PhaseBegan,
    PhaseEnded,
    PruneDecided,
    RunBegan,
    RunEnded,
    SkillKept,
    SlowUpdated,
    StepBegan,
    StepEnded,
    TaskScore,
    Warned,
    WorkFact,
)
from skillopt.kernel.view import RunView, fold

MEAN = Mean(hard=0.0, soft=0.5, n=3, failed=1, low=0.0, high=0.4)
ROWS = (TaskScore("one", 0, 0.0, 0.25, "near"), TaskScore("two", 0, None, None, "", "UnavailableError"))
EDIT = EditFact(op="append", content="Ünï “quoted” \n", target="", file="SKILL.md", support=2, source="failure")
MADE = CandidateMade(step=1, skill_digest="s2", changed=True, edits=(EDIT,))
EXAMPLES: dict[type[Any], Event] = {
    RunBegan: RunBegan(
        run="r",
        config_digest="c",
        version="0",
        epochs=1,
        steps_per_epoch=2,
        total_steps=2,
        sizes={"val": 3},
        models={"target": "m"},
        gate_rule="strict",
        gate_metric="hard",
        skill_digest="s",
    ),
    SkillKept: SkillKept(digest="s", name=None, files={"SKILL.md": "text"}),
    PhaseBegan: PhaseBegan(path="p", verb="rollout", units=3),
    PhaseEnded: PhaseEnded(
        path="p", verb="rollout", role="target", answered=2, failed=1, causes={"AuthError": 1}, usage=Usage(calls=2)
    ),
    Measured: Measured(
        label="baseline", split="val", skill_digest="s", mean=MEAN, by_type={"letters": MEAN}, rows=ROWS
    ),
    StepBegan: StepBegan(step=1, epoch=1, step_in_epoch=1, edit_budget=None, skill_digest="s"),
    BatchGraded: BatchGraded(step=1, batch=0, seed=7, mean=MEAN, rows=ROWS),
    PatchProposed: PatchProposed(step=1, stage="reflect", minibatch=0, source="failure", reasoning="", edits=(EDIT,)),
    BudgetDecided: BudgetDecided(
        step=1,
        learning_rate=0,
        raw_learning_rate=None,
        available_update_items=2,
        clamped=False,
        fallback=True,
        reasoning="",
        confidence="",
        risk_notes="",
        error="AuthError: no",
    ),
    CandidateMade: MADE,
    GateDecided: GateDecided(
        origin="step_0001",
        rule="strict",
        metric="hard",
        verdict="reject",
        action="reject",
        reason="",
        candidate=0.0,
        incumbent=None,
        best=0.0,
        n=3,
        failed=1,
        calls=4,
    ),
    PairsCompared: PairsCompared(origin="step_0001", new=3, old=0, neither=2, swayed=1, failed=0),
    AnswersJudged: AnswersJudged(path="p/judge", agreement=Agreement(answers=3, compared=2, disagreed=0.5)),
    AgentsWorked: AgentsWorked(
        path="step_0001/rollout",
        conduct=Conduct(runs=1, opened=1),
        works=(WorkFact(task_id="t", trial=0, summary="agent: x", steps="1. said: so", files=("a.txt (1 bytes)",)),),
    ),
    CandidateBisected: CandidateBisected(
        origin="step_0001", kept="step_0001a", tried=("step_0001a", "step_0001b"), made=MADE
    ),
    FrontierStood: FrontierStood(
        step=1, parent="s", members=(MemberFact(origin="s", skill_digest="s", score=None, best_on=0),)
    ),
    FrontierMerged: FrontierMerged(
        origin="merge_step_0001", better="s", better_digest="s", other="t", other_digest="t", made=MADE
    ),
    StepEnded: StepEnded(
        step=1,
        epoch=1,
        step_in_epoch=1,
        skill_digest="s",
        best_digest="s",
        current_score=0.0,
        best_score=None,
        best_step=0,
        current_origin="initial_skill",
        best_origin="initial_skill",
    ),
    PassagesTried: PassagesTried(
        number=1, lines=((3, 4),), texts=("- one",), taken_out=False, lost=("v1",), unmeasured=(), calls=9
    ),
    PruneDecided: PruneDecided(
        original_digest="s",
        pruned_digest="s2",
        confirmed=True,
        reason="",
        margin=0.05,
        chance=0.01,
        loss=0.0,
        rounds=2,
        pairs=80,
        failed=0,
        calls=160,
    ),
    NotesTaken: NotesTaken(
        step=1, skill_digest="s3", proposed=("A", "a."), added=("A",), refused=(), total=2, consolidated=None
    ),
    EpochCompared: EpochCompared(
        epoch=2,
        policy="mixed",
        before_digest="s",
        now_digest="s2",
        before_hard=1.0,
        now_hard=None,
        pairs=(PairFact("one", "regressed", 1.0, 1.0, 0.0, 0.5, True),),
        left_out=("two",),
    ),
    SlowUpdated: SlowUpdated(
        epoch=2, origin="slow_update_epoch_02", action="reject", reasoning="", content="Look twice.", skill_digest="s4"
    ),
    MetaSkillWritten: MetaSkillWritten(epoch=2, action="write_meta_skill", reasoning="", content="Be exact."),
    EpochEnded: EpochEnded(
        epoch=2,
        step=1,
        skill_digest="s",
        best_digest="s",
        current_score=0.0,
        best_score=None,
        best_step=0,
        current_origin="initial_skill",
        best_origin="initial_skill",
    ),
    Warned: Warned(message="Look here."),
    RunEnded: RunEnded(
        stop_reason="solved",
        best_digest="s",
        last_digest="s",
        best_origin="x",
        best_step=0,
        current_origin="x",
        claimed_val=0.0,
    ),
}


def test_every_event_has_an_example_here() -> None:
    assert set(EXAMPLES) == set(get_args(Event))


@pytest.mark.parametrize("event", EXAMPLES.values(), ids=lambda event: type(event).__name__)
def test_every_event_comes_back_from_a_journal_as_it_was(event: Event) -> None:
    assert msgspec.json.decode(msgspec.json.encode(event), type=Event) == event
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(event), type=Event) == event


@pytest.mark.parametrize("event", EXAMPLES.values(), ids=lambda event: type(event).__name__)
def test_every_event_shows_in_the_view(event: Event) -> None:
    before = fold(RunView(), EXAMPLES[StepBegan])
    assert fold(before, event) != before


def test_tags_are_unique() -> None:
    tags = [msgspec.to_builtins(event)["event"] for event in EXAMPLES.values()]
    assert len(set(tags)) == len(tags)
