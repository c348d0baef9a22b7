from __future__ import annotations

import msgspec
import pytest

from skillopt.domain.skill import Skill
from skillopt.kernel.events import (
    BudgetDecided,
    CandidateMade,
    PatchProposed,
    PhaseBegan,
    Warned,
)
from skillopt.phases.consolidate.slow_update import SlowUpdateSettings
from skillopt.testing.brains import BRAINS
from skillopt.testing.conversation import Brain, BrainReply, Conversation
from skillopt.train.settings import OptimizerSettings
from tests.simulation.house import House, Lived, house, live


@pytest.fixture(scope="module")
def lived() -> Lived:
    return live(house(14))


def test_every_stage_of_a_patch_is_told(lived: Lived) -> None:
    for step in lived.view.finished_steps:
        stages = [patch.stage for patch in step.patches]
        assert stages[-2:] == ["aggregate", "select"]
        assert set(stages[:-2]) == {"reflect"}
        assert len(step.ranked) <= (step.began.edit_budget or 0)
        assert step.candidate is not None
        assert len(step.candidate.edits) == len(step.ranked)


def test_unusable_reflections_are_warned_about_and_the_rest_is_used() -> None:
    def moody(conversation: Conversation) -> BrainReply:
        if "success_patterns" in conversation.system:
            return BrainReply(text="I would rather not say.")
        return BRAINS["rules"](conversation)

    moody_run = live(house(6).but(optimizer_brain=moody))
    assert moody_run.error is None
    warnings = moody_run.events_of(Warned)
    assert warnings
    assert all("Unreadable" in warning.message for warning in warnings)
    assert {event.source for event in moody_run.events_of(PatchProposed) if event.stage == "reflect"} == {"failure"}


def test_a_refused_edit_is_told_with_its_reason() -> None:
    reply = '{"patch": {"reasoning": "", "edits": [{"op": "delete", "target": "no such line"}]}}'
    refused = live(house().but(optimizer_brain=lambda _: BrainReply(text=reply)))
    candidate = refused.events_of(CandidateMade)[0]
    assert not candidate.changed
    assert [edit.status for edit in candidate.edits] == ["target_not_found"]
    assert candidate.edits[0].detail
    assert refused.records[0].edit_apply_summary == {"target_not_found": 1}


def trained(optimizer: OptimizerSettings, brain: str | Brain = "rules", home: House | None = None) -> Lived:
    """Train with these settings, but without looking back on epochs: only steps change the skill."""
    begun = house(5) if home is None else home
    stepwise = msgspec.structs.replace(optimizer, slow_update=SlowUpdateSettings(enabled=False), meta_skill=False)
    return live(begun.but(plan=msgspec.structs.replace(begun.plan, optimizer=stepwise), optimizer_brain=brain))


def stages(lived: Lived) -> set[str]:
    return {event.verb for event in lived.events_of(PhaseBegan)}


def answering(kind: str, reply: str) -> Brain:
    """Return the optimizer of the rules world that says something of its own to one kind of prompt."""

    def brain(conversation: Conversation) -> BrainReply:
        if conversation.system.startswith(f"Task: {kind}"):
            return BrainReply(text=reply)
        return BRAINS["rules"](conversation)

    return brain


def test_a_reflection_is_told_with_its_tasks_and_patterns(lived: Lived) -> None:
    reflections = [event for event in lived.events_of(PatchProposed) if event.stage == "reflect"]
    failing = [event for event in reflections if event.source == "failure"]
    assert failing
    for event in failing:
        assert 1 <= len(event.tasks) <= 3
        assert [pattern.words.partition(":")[0] for pattern in event.patterns]


@pytest.mark.parametrize("mode", ["patch", "rewrite_from_suggestions", "full_rewrite_minibatch"])
def test_every_mode_improves_the_skill(mode: str) -> None:
    lived = trained(msgspec.convert({"mode": mode, "edit_budget": 4}, OptimizerSettings))
    assert lived.error is None
    assert lived.summary.accepts
    rule = lived.best.replace(house(5).plan.seed_skill.text, "").strip()
    assert rule
    assert {record.skill_update_mode for record in lived.records} == {mode}


def test_a_rewrite_ranks_suggestions_and_sums_up_what_it_did() -> None:
    lived = trained(OptimizerSettings(mode="rewrite_from_suggestions", edit_budget=1, min_edit_budget=1))
    assert {"rank", "rewrite"} <= stages(lived)
    changed = next(record for record in lived.records if record.rewrite_change_summary)
    assert changed.edit_apply_summary == {"applied": 1}


def test_whole_documents_have_no_budget_and_no_ranking() -> None:
    lived = trained(OptimizerSettings(mode="full_rewrite_minibatch", edit_budget=1, min_edit_budget=1))
    assert stages(lived) == {"rollout", "reflect", "merge"}
    assert {(record.edit_budget, record.lr_control_mode) for record in lived.records} == {(None, "none")}


@pytest.mark.parametrize("mode", ["patch", "rewrite_from_suggestions"])
def test_without_a_budget_everything_proposed_is_made(mode: str) -> None:
    settings = {"mode": mode, "budget_control": "none", "edit_budget": 1, "min_edit_budget": 1}
    lived = trained(msgspec.convert(settings, OptimizerSettings))
    assert "rank" not in stages(lived)
    assert all(record.n_edits_ranked == record.n_edits_merged for record in lived.records)
    assert max(record.n_edits_ranked for record in lived.records) > 1


@pytest.mark.parametrize("schedule", ["cosine", "unlimited"])
def test_an_autonomous_budget_is_decided_step_by_step_and_recorded(schedule: str) -> None:
    settings = msgspec.convert({"budget_control": "autonomous", "schedule": schedule}, OptimizerSettings)
    lived = trained(settings, answering("budget", '{"learning_rate": 1, "reasoning": "Go slowly."}'))
    decisions = lived.events_of(BudgetDecided)
    assert len(decisions) == len(lived.records)
    assert {record.lr_control_mode for record in lived.records} == {"autonomous"}
    for decision, record in zip(decisions, lived.records, strict=True):
        assert record.lr_decision == decision
        assert record.n_edits_ranked == decision.learning_rate == min(1, decision.available_update_items)


@pytest.mark.parametrize("said", ["0", '"nothing"', "true"])
def test_a_decision_for_nothing_applies_nothing(said: str) -> None:
    settings = OptimizerSettings(budget_control="autonomous")
    lived = trained(settings, answering("budget", f'{{"learning_rate": {said}}}'))
    assert {record.action for record in lived.records} == {"skip_no_patches"}
    assert lived.best == house(5).plan.seed_skill.text
    assert bool(lived.events_of(Warned)) is (said != "0")


def test_a_rewrite_that_cannot_be_used_is_a_skip_that_measures_nothing() -> None:
    lived = trained(
        OptimizerSettings(mode="rewrite_from_suggestions"), answering("rewrite", '{"new_skill": "<!-- psst -->"}')
    )
    assert {record.action for record in lived.records} == {"skip_no_rewrite"}
    assert lived.summary.skips == len(lived.records)
    assert all(record.selection_hard is None for record in lived.records)
    assert any("html_comment" in warning.message for warning in lived.events_of(Warned))


def test_a_merge_and_a_ranking_that_fail_are_warned_about_and_cost_no_proposal() -> None:
    lived = trained(OptimizerSettings(edit_budget=2), answering("rank", "Hm."))
    assert any("without a ranking" in warning.message for warning in lived.events_of(Warned))
    assert lived.summary.accepts


def test_later_steps_are_told_what_came_of_earlier_ones_unless_the_ledger_is_off() -> None:
    told: list[str] = []

    def watching(conversation: Conversation) -> BrainReply:
        if conversation.system.startswith("Task: reflect"):
            told.append(conversation.asked)
        return BRAINS["rules"](conversation)

    home = house(5)
    live(home.but(optimizer_brain=watching))
    assert any("append: " in text and "- rejected" in text for text in told)
    told.clear()
    live(home.but(optimizer_brain=watching, reflect=msgspec.structs.replace(home.reflect, ledger=False)))
    assert told
    assert not any("Earlier steps" in text for text in told)


def test_no_prompt_of_the_optimizer_shows_a_val_or_test_task() -> None:
    seen: list[str] = []

    def watching(conversation: Conversation) -> BrainReply:
        seen.append(conversation.everything)
        return BRAINS["rules"](conversation)

    home = house(3)
    for mode in ("patch", "rewrite_from_suggestions", "full_rewrite_minibatch"):
        optimizer = msgspec.convert({"mode": mode, "edit_budget": 1, "min_edit_budget": 1}, OptimizerSettings)
        trained(optimizer, watching, home)
    held_out = (*home.plan.tasks.val, *home.plan.tasks.test)
    assert seen
    for text in seen:
        assert not [task.id for task in held_out if task.id in text or str(task.input) in text]


def test_regions_survive_every_mode() -> None:
    home = house(5)
    region = "<!-- SLOW_UPDATE_START -->\nLook twice.\n<!-- SLOW_UPDATE_END -->"
    skill = Skill.from_text(f"---\nname: x\n---\n{home.plan.seed_skill.text}\n{region}\n")
    begun = home.but(plan=msgspec.structs.replace(home.plan, seed_skill=skill))
    for mode in ("patch", "rewrite_from_suggestions", "full_rewrite_minibatch"):
        lived = trained(msgspec.convert({"mode": mode}, OptimizerSettings), "rules", begun)
        assert lived.summary.accepts, mode
        assert region in lived.best, mode
        assert lived.best.count("Look twice.") == 1, mode
        assert lived.best.startswith("---\nname: x\n---\n"), mode


def test_a_budget_of_nothing_asks_the_optimizer_nothing() -> None:
    lived = trained(
        OptimizerSettings(
            edit_budget=0, min_edit_budget=0, slow_update=SlowUpdateSettings(enabled=False), meta_skill=False
        )
    )
    assert lived.error is None
    assert lived.optimizer.served == 0
    assert {record.action for record in lived.records} == {"skip_no_patches"}
