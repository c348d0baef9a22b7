"""The numbered faults of the published trainer, and for each the tests that fail where it is repeated.

A fault whose subject we do not have says so, with the tests of what stands in its place. The tests below the table are
those that fit nowhere better.
"""

from __future__ import annotations

import ast
import itertools
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

import msgspec
import pytest

from skillopt.app.project.prepare import prepare
from skillopt.cli.main import main
from skillopt.domain.errors import UsageError
from skillopt.domain.skill import Skill
from skillopt.environments.dataset import Dataset, DatasetSettings
from skillopt.kernel.events import Measured, SkillKept
from skillopt.kernel.memory import MemoryShelf
from skillopt.phases.gate import GateSettings
from skillopt.testing.brains import BRAINS
from skillopt.testing.conversation import BrainReply, Conversation
from tests.simulation.house import appends, house, live
from tests.simulation.memory_house import memory_house
from tests.simulation.test_invariants import lived_through
from tests.unit.app.projects import as_dict, lasting, write_project

TESTS = Path(__file__).parents[1]
FAULTS = 50

PINNED: Mapping[int, tuple[str, ...]] = MappingProxyType(
    {
        1: ("simulation/test_remembering::test_1_a_score_of_zero_is_a_score_when_the_run_goes_on",),
        2: ("simulation/test_remembering::test_2_more_epochs_on_the_same_answers_score_the_skill_that_there_is_now",),
        3: ("simulation/test_published_faults::test_3_an_optimizer_that_changes_its_mind_does_not_mix_two_candidates",),
        4: (
            "simulation/test_remembering::test_4_and_5_every_score_is_one_that_was_measured_for_the_text_it_is_told_of",
            "simulation/test_remembering::test_4_a_forced_update_is_best_only_if_it_measured_better",
        ),
        5: (
            "simulation/test_remembering::test_4_and_5_every_score_is_one_that_was_measured_for_the_text_it_is_told_of",
            "unit/train/lab/test_deciding::test_the_trials_that_decided_are_no_bar_and_no_claim",
        ),
        6: (
            "unit/phases/gate/test_published::test_a_candidate_that_changes_nothing_is_decided_without_a_call",
            "unit/train/test_loop::test_a_step_without_edits_costs_no_measurement",
        ),
        7: (
            "unit/train/lab/test_proposing::test_a_decision_for_nothing_applies_nothing",
            "unit/phases/test_select::test_what_fits_is_kept_in_order_and_a_budget_of_nothing_keeps_nothing_and_neither_asks",
        ),
        8: (
            "unit/domain/skill/test_apply::test_each_refusal_leaves_the_skill_alone_and_says_why",
            "simulation/test_invariants::test_regions_and_front_matter_withstand_every_edit",
            "unit/train/lab/test_proposing::test_regions_survive_every_mode",
        ),
        9: (
            "unit/domain/skill/test_apply::test_each_refusal_leaves_the_skill_alone_and_says_why",
            "unit/train/lab/test_proposing::test_a_refused_edit_is_told_with_its_reason",
        ),
        10: ("unit/domain/skill/test_apply::test_each_refusal_leaves_the_skill_alone_and_says_why",),
        11: ("simulation/test_remembering::test_11_the_best_skill_has_the_reminders_that_were_accepted_with_it",),
        12: (
            "simulation/test_remembering::test_12_the_last_skill_competes_for_best_whether_or_not_anything_is_tested",
        ),
        13: (
            "simulation/test_published_faults::test_13_a_score_is_told_under_its_own_name_also_after_a_kill",
            "simulation/test_published_faults::test_13_a_step_without_a_usable_rewrite_is_counted_as_a_skip",
        ),
        14: (
            "simulation/test_invariants::test_a_failing_val_task_weighs_nothing_in_the_gate",
            "simulation/test_invariants::test_a_failing_train_task_is_neither_scored_nor_shown",
            "simulation/test_invariants::test_after_an_outage_the_same_command_goes_on_as_if_nothing_had_been",
            "simulation/test_command::test_a_program_that_breaks_gives_no_zero",
        ),
        15: (
            "unit/environments/command/test_assessor::test_every_answer_has_a_fresh_folder_that_is_gone_afterwards",
            "unit/environments/command/test_assessor::test_a_program_that_breaks_gives_no_score",
        ),
        16: ("unit/environments/test_prompt::test_nothing_of_the_grading_reaches_the_target",),
        17: ("unit/phases/test_reflect::test_a_pattern_stays_with_the_minibatch_that_showed_it",),
        18: (
            "unit/phases/test_aggregate::test_support_counts_the_minibatches_and_never_one_twice",
            "unit/phases/test_aggregate::test_a_merged_edit_has_the_counted_support_of_what_it_was_made_of_whatever_the_reply_says",
        ),
        19: (
            "simulation/test_secrets_sweep::test_not_one_of_them_is_kept_or_shown",
            "unit/app/project/test_prepare::test_a_secret_in_a_config_is_refused_and_never_repeated",
        ),
        20: (
            "unit/domain/test_tasks::test_the_same_content_in_two_splits_is_refused_whatever_the_reference",
            "simulation/test_published_faults::test_20_a_split_without_val_is_refused",
        ),
        21: (
            "unit/store/test_files::test_a_file_is_replaced_whole_and_private",
            "unit/app/test_session::test_losing_the_folder_loses_nothing_and_costs_no_call",
            "simulation/test_kill_sweep::test_a_run_killed_after_any_append_ends_with_the_same_bytes",
        ),
        22: ("simulation/test_published_faults::test_22_a_resumed_run_tells_the_optimizer_what_was_tried_before",),
        23: (
            "simulation/test_remembering::test_23_and_24_a_resumed_run_has_the_same_budgets_and_no_slow_update_twice",
            "unit/train/test_plan::test_the_edit_budget_follows_the_step_number",
        ),
        24: (
            "simulation/test_remembering::test_23_and_24_a_resumed_run_has_the_same_budgets_and_no_slow_update_twice",
        ),
        25: (
            "simulation/test_published_faults::test_25_a_project_that_was_moved_goes_on_and_its_bill_is_whole",
            "unit/cli/test_train::test_another_plan_under_a_name_is_2_and_names_what_differs",
        ),
        26: (
            "unit/kernel/test_run::test_outcomes_come_in_the_order_of_the_works_and_failures_are_values",
            "simulation/test_everything::test_4_the_number_of_workers_and_transient_faults_change_nothing",
        ),
        27: ("simulation/test_invariants::test_the_same_command_again_costs_nothing",),
        28: (
            "simulation/test_invariants::test_a_crash_after_every_record_changes_nothing",
            "unit/environments/test_dataset::test_limits_take_the_first_of_each_split",
        ),
        29: (
            "simulation/test_remembering::test_29_both_sides_of_a_comparison_are_asked_together",
            "simulation/test_overlap::test_with_slots_for_all_a_run_takes_its_longest_chain",
        ),
        30: (
            "unit/domain/evidence/test_paired::test_a_hopeless_candidate_is_given_up_early",
            "unit/domain/evidence/test_paired::test_a_candidate_that_breaks_most_is_rejected_within_twelve_calls",
        ),
        31: (
            "simulation/test_everything::test_7_no_cap_on_calls_is_overshot_and_a_raised_one_goes_on",
            "simulation/test_invariants::test_caps_on_tokens_and_dollars_hold_under_faults_and_crashes",
            "unit/cli/shown/test_planned::test_the_command_says_what_it_would_cost_and_writes_nothing",
            "unit/train/test_loop::test_patience_ends_after_steps_without_an_accept",
        ),
        32: (
            "unit/kernel/payment/test_retry::test_only_what_may_pass_is_tried_again",
            "unit/kernel/payment/test_retry::test_the_last_attempt_is_the_last",
        ),
        33: (
            "unit/phases/test_reflect::test_a_prompt_stays_within_its_bound_however_long_the_cases_are",
            "unit/phases/consolidate/test_showing::test_long_answers_are_shortened_and_many_pairs_leave_less_for_each",
        ),
        34: (
            "unit/kernel/test_run::test_cancelling_leaves_nothing_under_way",
            "unit/kernel/test_process::test_cancelling_kills_the_group_before_it_goes_on",
        ),
        35: ("unit/phases/consolidate/test_pairs::test_waves_find_what_looking_one_by_one_finds",),
        36: ("simulation/test_published_faults::test_36_a_switch_is_off_or_refused_and_never_on_when_it_says_off",),
        37: (
            "unit/app/test_config::test_a_budget_that_has_no_say_is_refused",
            "unit/train/lab/test_proposing::test_without_a_budget_everything_proposed_is_made",
            "docs/test_reference::test_every_key_has_its_row_and_its_sentence",
        ),
        38: (
            "simulation/test_typos::test_keys_in_a_file",
            "simulation/test_typos::test_values_that_have_names",
            "unit/app/project/test_skills::test_a_missing_skill_is_an_error_and_never_a_blank_start",
        ),
        39: (
            "contracts/test_registered::test_every_backend_a_config_can_name_is_in_the_contract_suite",
            "simulation/test_dialects::test_the_wire_format_decides_nothing",
        ),
        40: (
            "wire/test_openai_chat::test_every_setting_is_in_the_request",
            "unit/app/test_wire::test_a_stage_has_its_own_settings_and_shares_the_rest",
        ),
        42: (
            "simulation/test_invariants::test_two_runs_in_one_process_do_not_disturb_each_other",
            "architecture/test_state::test_no_module_changes_its_own_state",
            "unit/kernel/test_process::test_the_program_sees_its_own_environment_and_folder_only",
        ),
        44: ("sandbox/test_escapes::test_an_attack_is_stopped",),
        45: (
            "simulation/test_invariants::test_an_optimizer_that_never_says_anything_useful_ends_the_run_with_its_name",
            "simulation/test_real_commands::test_an_optimizer_that_never_answers_is_no_success",
        ),
        46: ("unit/app/library/test_calls::test_a_skill_is_improved_by_plain_functions",),
        47: (
            "unit/app/project/test_skills::test_a_folder_is_a_skill_with_its_text_files",
            "unit/domain/skill/test_properties::test_regions_and_front_matter_survive_any_edits",
        ),
        41: (
            "unit/agents/claude_code/test_outcome::test_the_newest_accepted_object_is_the_answer_even_of_a_run_that_ended_in_an_error",
            "unit/agents/test_asked::test_what_a_prompt_cannot_say_is_refused_and_never_left_out",
        ),
        43: (
            "unit/agents/test_workspace::test_the_index_of_attachments_names_no_place_of_this_machine",
            "unit/app/project/test_errands::test_no_data_folder_shows_an_agent_answers_or_results",
            "agents_real/test_reach::test_a_confined_agent_reaches_nothing",
            "agents_real/test_reach::test_an_agent_that_is_not_confined_reaches_everything",
        ),
        48: (
            "docs/test_reference::test_pages_are_what_the_code_says",
            "unit/app/settings/test_load::test_extends_puts_the_general_under_the_special",
        ),
        50: (
            "docs/test_reference::test_pages_are_what_the_code_says",
            "docs/test_snippets::test_snippets_run_or_parse",
            "unit/cli/test_train::test_the_folder_of_a_run_has_what_other_tools_rely_on",
        ),
    }
)
NOT_OURS: Mapping[int, str] = MappingProxyType(
    {
        49: "There is no web page that watches runs yet.",
    }
)


@cache
def functions_of(path: Path) -> frozenset[str]:
    """Return the names of a module's functions."""
    tree = ast.parse(path.read_text())
    return frozenset(each.name for each in tree.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))


def test_every_fault_is_pinned_by_tests_that_exist_or_is_not_ours() -> None:
    assert sorted((*PINNED, *NOT_OURS)) == list(range(1, FAULTS + 1))
    for fault, nodes in PINNED.items():
        assert nodes, f"fault {fault}"
        for node in nodes:
            module, name = node.split("::")
            assert name in functions_of(TESTS / f"{module}.py"), f"fault {fault}: there is no {node}"
    assert all(NOT_OURS.values())


# the tests that fit nowhere better ----------------------------------------------------------------------------------


def test_3_an_optimizer_that_changes_its_mind_does_not_mix_two_candidates() -> None:
    numbers = itertools.count()
    shown: set[str] = set()

    def fickle(_conversation: Conversation) -> BrainReply:
        edit = {"op": "append", "content": f"Note {next(numbers)}: never the same twice.", "target": ""}
        return BrainReply(text=json.dumps({"patch": {"reasoning": "", "edits": [edit]}}))

    def watched(conversation: Conversation) -> BrainReply:
        shown.add(conversation.system)
        return BRAINS["rules"](conversation)

    home = house(6, train_size=6, val=6, test=2, epochs=2).but(optimizer_brain=fickle, target_brain=watched)
    for kill in range(1, appends(home) + 1):
        shown.clear()
        last = lived_through(home, MemoryShelf(), [kill])[-1]
        told = {Skill.from_files(kept.files).rendered for kept in last.events_of(SkillKept)}
        unknown = [text for text in shown if not any(each.strip() in text for each in told)]
        assert not unknown, f"killed after record {kill}, val was put to a skill that is no candidate of the run"
        assert sum("Note" in text for text in shown) == sum("Note" in text for text in told), f"record {kill}"


def test_13_a_score_is_told_under_its_own_name_also_after_a_kill() -> None:
    home = house(8).but(environment=Dataset(DatasetSettings(path="tasks", grader="f1"), house(8).plan.tasks))
    home = home.but(gate=GateSettings(rule="strict", metric="soft"))
    whole, differ = live(home), 0
    for kill in range(appends(home) // 7, appends(home), appends(home) // 7):
        lived = lived_through(home, MemoryShelf(), [kill])[-1]
        scores, measured = lived.summary.scores, {each.label: each.mean for each in lived.events_of(Measured)}
        assert scores.baseline.val is not None
        assert scores.best.val is not None
        assert scores.best.test is not None
        assert (scores.best.test.hard, scores.best.test.soft) == (measured["best"].hard, measured["best"].soft)
        assert lived.records[-1].best_score == scores.best.val.soft
        assert lived.lasting == whole.lasting
        differ += scores.baseline.val.hard != scores.baseline.val.soft
    assert differ, "part marks that are the whole marks would show nothing"


def test_13_a_step_without_a_usable_rewrite_is_counted_as_a_skip() -> None:
    def unwilling(conversation: Conversation) -> BrainReply:
        if conversation.system.startswith("Task: rewrite"):
            return BrainReply(text="I would rather not.")
        return BRAINS["rules"](conversation)

    home = house(6).but(optimizer_brain=unwilling)
    optimizer = msgspec.structs.replace(home.plan.optimizer, mode="rewrite_from_suggestions")
    lived = live(home.but(plan=msgspec.structs.replace(home.plan, optimizer=optimizer)))
    actions = [record.action for record in lived.records]
    assert "skip_no_rewrite" in actions
    assert lived.summary.skips == sum(action.startswith("skip") for action in actions)
    assert lived.summary.steps == lived.summary.skips + lived.summary.accepts + lived.summary.rejects


def test_20_a_split_without_val_is_refused(tmp_path: Path) -> None:
    rows = ({"id": str(number), "input": f"Question {number}?", "reference": "yes"} for number in range(3))
    (tmp_path / "tasks.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    with pytest.raises(UsageError, match="val"):
        Dataset.load(DatasetSettings(path="tasks.jsonl"), tmp_path)


def test_22_a_resumed_run_tells_the_optimizer_what_was_tried_before() -> None:
    asked: list[str] = []

    def listening(conversation: Conversation) -> BrainReply:
        asked.append(conversation.everything)
        return BRAINS["mindful"](conversation)

    home = memory_house(8, epochs=2).but(optimizer_brain=listening)
    live(home)
    known = frozenset(asked)
    assert any("# Earlier steps\n" in text for text in known)
    for kill in range(5, appends(home), 9):
        asked.clear()
        lived_through(home, MemoryShelf(), [kill])
        assert set(asked) == known, f"killed after record {kill}"


def test_25_a_project_that_was_moved_goes_on_and_its_bill_is_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def trained(config: Path, *flags: str) -> dict[str, object]:
        main(["train", str(config), "--json", *flags])
        return as_dict(json.loads(capsys.readouterr().out))

    whole = trained(write_project(tmp_path / "whole"))
    config = write_project(tmp_path / "here")
    assert trained(config, "--set", "limits.calls=20")["status"] == "stopped"
    (tmp_path / "here").rename(tmp_path / "there")
    moved = trained(tmp_path / "there" / config.name)
    assert lasting(moved) == lasting(whole)
    usage = as_dict(moved["usage"])
    assert as_dict(usage["overhead"])["attempts"] == as_dict(usage["total"])["calls"], "nothing was paid for twice"
    assert as_dict(usage["total"])["calls"] == as_dict(as_dict(whole["usage"])["total"])["calls"]


@pytest.mark.parametrize("word", ["0", "off", "no", "false", "False", "FALSE", "'false'", "null", "[]", "none", "''"])
@pytest.mark.parametrize("key", ["optimizer.slow_update.enabled", "optimizer.meta_skill", "optimizer.repair"])
def test_36_a_switch_is_off_or_refused_and_never_on_when_it_says_off(tmp_path: Path, key: str, word: str) -> None:
    config = write_project(tmp_path)
    try:
        optimizer = prepare(config, sets=[f"{key}={word}"], environ={}).config.optimizer
    except UsageError as refused:
        assert key in str(refused)
        return
    switches = {
        "optimizer.slow_update.enabled": optimizer.slow_update.enabled,
        "optimizer.meta_skill": optimizer.meta_skill,
        "optimizer.repair": optimizer.repair,
    }
    assert switches[key] is False


@pytest.mark.parametrize("word", ["false", "off", "0", "none", "null"])
def test_36_the_gate_is_chosen_by_name_and_by_no_switch(tmp_path: Path, word: str) -> None:
    with pytest.raises(UsageError, match=r"gate\.rule"):
        prepare(write_project(tmp_path), sets=[f"gate.rule={word}"], environ={})
