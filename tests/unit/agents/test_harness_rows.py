"""The published harness for agents' programs, row by row, and for each the tests that pin what ours does.

They are named from tests/unit, those with real programs from tests. Where ours differs on purpose, the row says how
and why, and its tests pin the difference.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import msgspec
import pytest

TESTS = Path(__file__).parents[2]


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """What one row of the published harness is about, the tests of ours, and how ours differs, if it does."""

    what: str
    tests: tuple[str, ...]
    ours: str = ""


def row(what: str, *tests: str, ours: str = "") -> Row:
    return Row(what=what, tests=tests, ours=ours)


ROWS = (
    row(
        "an agent's program is the target, in a folder of its own for each item",
        "agents/test_runner::test_it_works_in_a_folder_with_the_task_its_files_and_the_skill_and_what_it_leaves_is_known",
        "agents_real/test_runs::test_a_run_ends_in_a_better_skill_and_in_the_same_bytes_though_killed_and_one_by_one",
        "agents_real/test_runs::test_a_run_with_a_further_program_ends_in_a_better_skill",
    ),
    row(
        "the skill file: front matter with name and description, preamble, body or a word where it is blank",
        "agents/test_workspace::test_of_the_front_matter_only_name_and_description_reach_the_agent",
        "agents/test_workspace::test_a_blank_skill_says_that_there_is_no_guidance_yet",
        "agents/test_workspace::test_a_skill_has_a_name_of_its_own_that_every_agent_takes",
        ours="The skill's own name and description go along, with skillopt- before the name, and no title is added: a"
        " description is what decides whether a skill is opened, so it is trained and measured as users will have it.",
    ),
    row(
        "the folder is made anew each time",
        "agents/test_runner::test_no_run_finds_anything_of_another_and_nothing_is_left_of_any",
        "agents/test_homes::test_a_home_is_empty_for_the_next_run_but_for_what_lasts",
        "agents/test_runner::test_for_git_the_project_begins_right_above_its_folder_and_has_no_file",
        "agents_real/test_canaries::test_an_agent_tells_its_model_nothing_of_the_person",
        ours="The home too: settings, skills and logins of the person would otherwise be part of what is measured.",
    ),
    row(
        "task.md, files, folders to read, the skill where programs look for it",
        "agents/test_workspace::test_an_agent_finds_the_task_its_files_and_the_skill_in_both_places",
        "agents/test_runner::test_data_folders_can_be_read_and_are_no_files_that_were_left",
        ours="The skill lies in .claude/skills as well: Claude Code does not look into .agents.",
    ),
    row(
        "attachments with numbers before their names, and ATTACHMENTS.md that lists them",
        "agents/test_workspace::test_the_index_of_attachments_names_no_place_of_this_machine",
        ours="It lists names only: the published one gives the place each came from, and so where the answers lie.",
    ),
    row(
        "an image that is missing is an error",
        "agents/test_workspace::test_a_given_file_that_is_gone_is_told",
        "agents/test_workspace::test_a_file_that_changed_since_it_was_digested_is_refused",
        "environments/errands/test_dataset::test_what_a_task_names_must_be_a_file",
    ),
    row(
        "the prompt: read the task, then the skill, ask nobody, what may be changed, close with the answer",
        "agents/test_wording::test_an_agent_that_is_told_reads_the_skill_by_its_path_and_one_that_is_not_has_to_find_it",
        "agents/test_wording::test_what_an_agent_may_do_and_has_is_said",
        "agents/claude_code/test_permits::test_a_skill_that_is_told_of_needs_no_tool",
        ours="By default the agent has to find the skill itself, as in use; agent.skill: told is the published way, and"
        " then there is no skill tool that a prompt would have to forbid.",
    ),
    row(
        "an empty answer is asked for again, with a note; errors are not",
        "agents/test_wording::test_only_a_second_attempt_is_told_of_the_first",
        "agents/test_runner::test_a_run_that_ended_without_an_answer_is_begun_again_with_a_note_and_both_are_paid_for",
        "agents/test_runner::test_a_run_that_never_ends_with_an_answer_is_a_crash_and_all_of_it_is_paid_for",
        "agents/test_runner::test_a_failure_after_an_empty_run_costs_what_both_cost",
        ours="Outages are tried again by the run's one layer of retries, which counts and charges each attempt.",
    ),
    row(
        "an answer by a schema of two texts: the response, else the bare answer in its tag, else an error",
        "agents/test_wording::test_the_schema_takes_two_texts_and_nothing_else",
        "agents/test_wording::test_an_answer_in_the_form_asked_for_is_graded_by_its_words",
        "agents/test_runner::test_the_answer_of_a_schema_is_read_out_of_it",
        "agents/test_runner::test_an_answer_by_a_schema_that_has_no_words_is_begun_again_like_any_that_is_empty",
        "agents/claude_code/test_outcome::test_the_newest_accepted_object_is_the_answer_even_of_a_run_that_ended_in_an_error",
    ),
    row(
        "Claude Code: tools, permission, effort, thinking, folders, no more than its share of time",
        "agents/claude_code/test_starting::test_an_agent_sees_its_folder_and_nothing_of_the_person",
        "agents/claude_code/test_starting::test_what_is_asked_for_besides_is_told",
        "agents/claude_code/test_permits::test_what_contradicts_itself_is_refused",
        ours="Permission is never bypassed: what no rule allows is denied, and told.",
    ),
    row(
        "a time-out is no answer",
        "agents/test_runner::test_a_run_that_reaches_its_deadline_failed_and_leaves_no_process",
        "agents/test_settling::test_at_its_deadline_a_run_failed_whatever_it_said_and_whatever_went_wrong_before",
        ours="The published one takes Claude Code's for an empty answer, which is then scored 0. Here it is Failed.",
    ),
    row(
        "an exit code that is not 0",
        "agents/test_runner::test_an_exit_code_that_is_not_0_is_a_failure_whatever_was_said",
        "agents/test_settling::test_an_exit_code_alone_is_a_crash_in_the_words_of_the_program",
        ours="The published one takes Claude Code's output for an answer all the same. Here it is Failed.",
    ),
    row(
        "Codex: its own sandbox, profile, network, search, images, last message",
        "agents/codex/test_adapter::test_an_agent_is_started_in_its_folder_with_the_prompt_as_input",
        "agents/codex/test_adapter::test_the_last_message_that_was_left_is_the_answer",
        "agents/codex/test_configuration::test_it_confines_itself_as_far_as_it_can_where_it_is",
        "agents/codex/test_configuration::test_a_mode_of_its_own_may_be_asked_for",
        "agents/codex/test_configuration::test_the_web_is_searched_only_where_that_is_allowed",
        "agents/codex/test_configuration::test_what_it_cannot_do_is_refused_by_the_name_of_its_key",
        "agents/codex/test_adapter::test_output_and_rollout_file_are_one_account",
        ours="Tokens are counted, where the published one records none. A profile is refused: it lies in a home that is"
        " not there.",
    ),
    row(
        "Cursor: force only with file edits, otherwise it only asks; its last result event counts",
        "agents/cursor/test_starting::test_all_is_allowed_only_where_files_may_change",
        "agents/cursor/test_events::test_exit_code_events_and_words_must_agree",
        "agents/cursor/test_adapter::test_a_whole_run_is_heard",
        "domain/agency/test_transcripts::test_secrets_leave_every_word_of_a_transcript",
        ours="Unproven with the real program. Traces keep what was done, without secrets, of every program alike.",
    ),
    row(
        "Copilot: no built-in servers, no instruction files, everything allowed only where files may be changed",
        "agents/copilot/test_starting::test_everything_is_allowed_only_where_files_may_change_and_something_confines_it",
        "agents_real/test_copilot::test_an_answer_comes_with_its_tokens_its_session_and_nothing_of_the_folders_instructions",
        "agents_real/test_reach::test_a_confined_agent_reaches_nothing",
        ours="Its tokens and steps are kept: they are in its transcript.",
    ),
    row(
        "folders with data that may not be shown",
        "app/project/test_errands::test_no_data_folder_shows_an_agent_answers_or_results",
        "environments/errands/test_dataset::test_an_errand_has_the_task_its_files_and_the_skill_and_never_a_reference_a_check_or_an_id",
        "agents_real/test_reach::test_a_confined_agent_reaches_nothing",
        ours="Two names of folders are denied there. Here an agent sees what it was given, nothing else, and a folder"
        " with tasks or results in it is refused whatever its name.",
    ),
    row(
        "artefacts: what the program wrote, and a summary of what it did",
        "app/recorded/test_work::test_each_task_that_an_agent_was_sent_with_is_there_with_what_its_program_wrote",
        "cli/test_runs::test_work_tells_what_agents_did_and_the_output_of_their_program_when_asked",
        "agents/test_runner::test_an_answer_comes_with_what_was_done_for_it",
        ours="They are kept with the answer in the journal, not beside the folder, which is gone: see `runs work`.",
    ),
    row(
        "steps in a compact numbered list: 500 characters a step, 4,000 in all, and how each command went",
        "domain/agency/test_transcripts::test_an_account_keeps_its_bounds_and_says_what_it_left_out",
        "domain/agency/test_transcripts::test_a_step_is_told_with_its_tool_and_how_it_went",
        ours="Read from events, of every program, and not from sections of Codex's text.",
    ),
    row(
        "the steps up to the kth",
        "domain/agency/test_transcripts::test_an_account_up_to_a_step_is_its_beginning",
    ),
    row(
        "a summary: whether task and skill were read, the first three errors, tokens, the form of the answer",
        "domain/agency/test_transcripts::test_a_summary_names_what_was_read_called_denied_and_went_wrong",
        "agents/codex/test_steps::test_a_file_was_opened_by_a_command_that_names_it",
        "agents/telling/test_calls::test_one_try_that_came_to_a_good_end_is_enough",
        "agents/claude_code/test_account::test_a_skill_that_could_not_be_opened_has_failed_until_it_is",
        "cli/shown/test_works::test_a_run_is_told_with_its_cost_steps_and_answer_and_its_output_only_when_asked",
        ours="Tokens are the answer's usage and stand beside the summary. The form of an answer is its grader's to say,"
        " in its feedback: letters from A to E are one benchmark's. Sandbox and effort are settings of the whole run.",
    ),
    row(
        "which environments may send agents",
        "app/project/test_errands::test_where_the_target_is_an_agent_it_is_sent_and_its_files_name_the_run",
        "app/library/test_agents::test_an_agent_is_sent_and_its_skill_is_improved",
        "environments/errands/test_dataset::test_what_is_left_to_a_program_carries_the_files_that_were_left",
        ours="Any tasks can be sent, and graders see the files that were left.",
    ),
)
ELSEWHERE = {"the SDK of a program in the place of its command line": "agent.mode has tests of its own"}


@cache
def functions_of(path: Path) -> frozenset[str]:
    """Return the names of a module's functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(each.name for each in tree.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))


@pytest.mark.parametrize("each", ROWS, ids=[each.what[:40] for each in ROWS])
def test_every_row_is_pinned_by_tests_that_exist(each: Row) -> None:
    assert each.tests
    for node in each.tests:
        module, name = node.split("::")
        folder = TESTS if module.startswith("agents_real/") else TESTS / "unit"
        assert name in functions_of(folder / f"{module}.py"), f"there is no {node}"


def test_no_row_is_told_twice() -> None:
    told = [*(each.what for each in ROWS), *ELSEWHERE]
    assert len(set(told)) == len(told)
    assert all(ELSEWHERE.values())
