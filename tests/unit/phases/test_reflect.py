from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import msgspec
import pytest

from skillopt.domain.progress.batches import BatchSpec
from skillopt.domain.progress.memory import Memory, Pattern, Tried, TriedChange
from skillopt.domain.rollouts import Answered, Failed, Failure, Rollout, Turn
from skillopt.domain.scores import Score, Scoreboard, Scored
from skillopt.domain.seeds import shuffled
from skillopt.domain.skill import Edit, EditOp, Skill, Suggestion
from skillopt.domain.tasks import Task
from skillopt.kernel.plugins.members import Group, Reflects
from skillopt.phases.proposals.author import Briefing
from skillopt.phases.proposals.modes import MODES, ModeName
from skillopt.phases.reflect import Graded, Proposal, ReflectSettings, Source, reflect
from skillopt.testing.conversation import Conversation
from tests.unit.phases.authors import Replies, authored

SKILL = Skill.from_text("# Rules\n\nA rule with {{edit_budget}}.\n")
NO_EDITS = '{"patch": {"reasoning": "Fine.", "edits": []}}'


def graded(marks: str, *, seed: int = 5, first: int = 0) -> Graded:
    """Return a microbatch: 1 right, 0 wrong, h half right, x failed, u ungraded."""
    tasks, rollouts, rows = list[Task](), list[Rollout](), list[Scored]()
    hard = {"1": 1.0, "0": 0.0, "h": 0.5}
    for place, mark in enumerate(marks, first):
        name = f"t{place}"
        tasks.append(Task(id=name, input=f"<{name}> asks", reference=f"the answer to {name}"))
        if mark == "x":
            failure = Failure(kind="UnavailableError", who="provider", message="down")
            rollouts.append(Failed(task_id=name, trial=0, failure=failure))
            rows.append(Scored(task_id=name, cause="UnavailableError"))
            continue
        rollouts.append(Answered(task_id=name, trial=0, text=f"reply of {name}"))
        score = Score(hard=hard[mark], soft=hard[mark], feedback=f"feedback on {name}") if mark in hard else None
        rows.append(Scored(task_id=name, score=score, cause=None if score else "no telling"))
    batch = BatchSpec(epoch=1, step=1, index=0, seed=seed, tasks=tuple(tasks))
    return Graded(batch=batch, rollouts=tuple(rollouts), board=Scoreboard(tuple(rows)))


def reflected(
    batches: Sequence[Graded],
    *replies: str,
    settings: ReflectSettings = ReflectSettings(minibatch_size=2),
    edit_budget: int | None = 3,
    memory: Memory = Memory(),
    skill: Skill = SKILL,
    mode: ModeName = "patch",
    reminders_from: tuple[Source, ...] = (),
    own: Reflects | None = None,
) -> tuple[tuple[Proposal, ...], list[Conversation]]:
    """Reflect on batches with an optimizer that gives these replies in turn; return proposals and what it was shown."""
    brain = Replies(*(replies or (NO_EDITS,)))
    briefing = Briefing(skill=skill, edit_budget=edit_budget, memory=memory, reminders_from=reminders_from)
    proposals = authored(brain, lambda author: reflect(author, settings, batches, briefing, own), mode=MODES[mode])
    return proposals, brain.shown


def groups(shown: Sequence[Conversation]) -> list[tuple[str, list[str]]]:
    """Return for each prompt its kind and the tasks in it, in order."""
    found = []
    for conversation in shown:
        kind = "failure" if "failure_summary" in conversation.system else "success"
        text = conversation.asked
        places = sorted((text.index(f"<t{number}>"), f"t{number}") for number in range(30) if f"<t{number}>" in text)
        found.append((kind, [name for _, name in places]))
    return found


def patch(*edits: Mapping[str, object]) -> str:
    return json.dumps({"failure_summary": [], "patch": {"reasoning": "Because.", "edits": list(edits)}})


def test_failures_and_successes_are_shuffled_by_their_own_seeds_and_cut_into_consecutive_groups() -> None:
    batch = graded("0101h0100", seed=5)
    failures = shuffled(["t0", "t2", "t5", "t7", "t8"], 5)
    successes = shuffled(["t1", "t3", "t4", "t6"], 6)
    _, shown = reflected([batch])
    assert groups(shown) == [
        ("failure", list(failures[:2])),
        ("failure", list(failures[2:4])),
        ("failure", list(failures[4:])),
        ("success", list(successes[:2])),
        ("success", list(successes[2:])),
    ]


def test_microbatches_are_never_mixed_and_their_minibatches_are_numbered_on() -> None:
    proposals, shown = reflected([graded("001", seed=5), graded("01", seed=9, first=10)])
    assert [(proposal.source, proposal.minibatch) for proposal in proposals] == [
        ("failure", 0),
        ("failure", 1),
        ("success", 0),
        ("success", 1),
    ]
    assert [sorted(names) for _, names in groups(shown)] == [["t0", "t1"], ["t10"], ["t2"], ["t11"]]


def test_failed_and_ungraded_rollouts_are_shown_to_nobody() -> None:
    _, shown = reflected([graded("x0u1x")])
    assert groups(shown) == [("failure", ["t1"]), ("success", ["t3"])]


def test_nothing_to_show_asks_nothing() -> None:
    assert reflected([graded("xux")]) == ((), [])
    assert reflected([]) == ((), [])


def test_failures_only() -> None:
    _, shown = reflected([graded("0110")], settings=ReflectSettings(minibatch_size=8, failures_only=True))
    assert [kind for kind, _ in groups(shown)] == ["failure"]


@pytest.mark.parametrize("show", [False, True])
def test_a_prompt_shows_answers_and_feedback_and_references_only_if_told_to(show: bool) -> None:
    _, (shown,) = reflected([graded("0")], settings=ReflectSettings(show_references=show))
    assert "reply of t0" in shown.asked
    assert "feedback on t0" in shown.asked
    assert ("the answer to t0" in shown.asked) is show
    assert SKILL.rendered in shown.asked


def test_the_budget_is_told_and_text_from_outside_is_never_expanded() -> None:
    task = Task(id="t0", input="<t0> {{edit_budget}} edits", reference="x")
    batch = graded("0")
    odd = Graded(
        batch=BatchSpec(epoch=1, step=1, index=0, seed=1, tasks=(task,)), rollouts=batch.rollouts, board=batch.board
    )
    _, (shown,) = reflected([odd], edit_budget=3)
    assert "at most 3 changes" in shown.system
    assert "Edit budget: 3" in shown.asked
    assert "<t0> {{edit_budget}} edits" in shown.asked
    assert "A rule with {{edit_budget}}." in shown.asked


def long_case(text: str) -> Graded:
    batch = graded("0")
    long = Answered(task_id="t0", trial=0, text=text)
    return Graded(batch=batch.batch, rollouts=(long,), board=batch.board)


def test_long_texts_are_shortened_with_a_word_on_it() -> None:
    settings = ReflectSettings(transcript_tokens=100)
    _, (shown,) = reflected([long_case("y" * 50_000 + "the end")], settings=settings)
    assert "tokens left out" in shown.asked
    assert "the end" in shown.asked
    assert len(shown.asked) < 2000


@pytest.mark.parametrize("cases", [1, 4, 8])
def test_a_prompt_stays_within_its_bound_however_long_the_cases_are(cases: int) -> None:
    batch = graded("0" * cases)
    long = tuple(Answered(task_id=f"t{place}", trial=0, text="y" * 400_000) for place in range(cases))
    settings = ReflectSettings(transcript_tokens=90_000, prompt_tokens=3000)
    _, (shown,) = reflected([Graded(batch=batch.batch, rollouts=long, board=batch.board)], settings=settings)
    assert (len(shown.asked) + len(shown.system)) / 4 < 3000 * 1.1
    assert all(f"feedback on t{place}" in shown.asked for place in range(cases))


def test_without_the_trace_only_the_end_of_an_answer_is_shown() -> None:
    settings = ReflectSettings(show_trace=False)
    _, (shown,) = reflected([long_case("First I thought.\n\nThen I said: 7.")], settings=settings)
    assert "Then I said: 7." in shown.asked
    assert "First I thought." not in shown.asked
    assert "about 4 tokens before this left out" in shown.asked


@pytest.mark.parametrize(("budget", "kept"), [(None, 3), (2, 2)])
def test_what_passes_the_budget_is_cut_in_order(budget: int | None, kept: int) -> None:
    reply = patch(*({"op": "append", "content": f"edit {number}"} for number in range(3)))
    (proposal,), _ = reflected([graded("0")], reply, edit_budget=budget)
    assert [edit.content for edit in proposal.patch.edits] == [f"edit {number}" for number in range(3)][:kept]


def test_without_a_budget_only_what_may_remind_is_reflected_on() -> None:
    assert reflected([graded("01")], edit_budget=0) == ((), [])
    (proposal,), (shown,) = reflected([graded("01")], edit_budget=0, reminders_from=("failure",))
    assert proposal.source == "failure"
    assert "Edit budget: 0" in shown.asked


def test_what_was_said_after_the_answer_is_shown_beside_its_score() -> None:
    batch = graded("0")
    turns = (Turn(feedback="Mind the rule.", text="Now I do."),)
    talked = msgspec.structs.replace(batch, rollouts=(msgspec.structs.replace(batch.rollouts[0], turns=turns),))
    _, (shown,) = reflected([talked])
    assert "reply of t0" in shown.asked
    assert "Told: Mind the rule.\n\nAnswered: Now I do." in shown.asked
    _, (plain,) = reflected([batch])
    assert "after that" not in plain.asked


class Own:
    """Proposes an edit for what went wrong, and says what to show of what went right."""

    def reflection(self, group: Group) -> str | tuple[Edit, ...]:
        if not group.wrong:
            return f"{len(group.attempts)} were right."
        return tuple(Edit(op=EditOp.APPEND, content=attempt.task.id) for attempt in group.attempts)


def test_an_environment_reflects_in_the_place_of_the_optimizer() -> None:
    proposals, shown = reflected([graded("00011")], edit_budget=1, own=Own())
    failures = [each for each in proposals if each.source == "failure"]
    assert [len(each.tasks) for each in failures] == [2, 1]
    assert [edit.words for each in failures for edit in each.patch.edits] == [
        f"append: {each.tasks[0]}" for each in failures
    ]
    assert [edit.minibatches for each in failures for edit in each.patch.edits] == [(0,), (1,)]
    (asked,) = shown
    assert asked.asked.endswith("2 were right.")
    assert "reply of" not in asked.asked
    assert "# The skill" in asked.asked


def test_an_edit_keeps_its_evidence() -> None:
    reply = patch(
        {"op": "add", "content": "New.", "target": None, "support": 99}, {"op": "delete", "target": "# Rules"}
    )
    (proposal,), _ = reflected([graded("00")], reply)
    new, gone = proposal.patch.edits
    assert isinstance(new, Edit)
    assert (new.op, new.content, new.target, new.support) == (EditOp.APPEND, "New.", "", 1)
    assert (gone.op, gone.target, gone.file) == (EditOp.DELETE, "# Rules", "SKILL.md")
    assert (new.source, new.minibatches, sorted(new.tasks)) == ("failure", (0,), ["t0", "t1"])
    assert proposal.patch.reasoning == "Because."


def test_an_unusable_reply_is_a_proposal_without_edits_that_says_why() -> None:
    proposals, shown = reflected([graded("000")], "Hm.", patch({"op": "append", "content": "x"}), "Hm.")
    assert len(shown) == 3, "each group once, and the unreadable reply sent back once"
    assert [bool(proposal.unusable) for proposal in proposals] == [True, False]
    assert proposals[0].unusable.startswith("Unreadable: ")
    assert proposals[0].patch.edits == ()
    assert [edit.content for edit in proposals[1].patch.edits] == ["x"]


def test_an_operation_nobody_knows_is_sent_back_and_never_guessed() -> None:
    proposals, shown = reflected([graded("0")], patch({"op": "rewrite", "content": "x"}), patch())
    assert len(shown) == 2
    assert not proposals[0].unusable


def test_a_failing_optimizer_is_named() -> None:
    (proposal,), _ = reflected([graded("0")], "fail")
    assert proposal.unusable.startswith("ContextTooLongError: ")


def test_earlier_steps_are_told_but_not_all_of_them() -> None:
    tried = tuple(
        Tried(
            step=number,
            epoch=1,
            action="reject",
            failed_tasks=2,
            tasks=6,
            changes=(
                TriedChange(words=f"append: idea {number}", fate="rejected"),
                TriedChange(words="x" * 1000, fate="refused"),
            ),
            candidate=0.1,
            incumbent=0.2,
        )
        for number in range(1, 21)
    )
    _, (shown,) = reflected([graded("0")], memory=Memory(tried=tried))
    told = [number for number in range(1, 21) if f"idea {number}\n" in shown.asked]
    assert told == list(range(13, 21))
    assert "x" * 500 not in shown.asked


def test_a_pattern_stays_with_the_minibatch_that_showed_it() -> None:
    def seen(*summary: object) -> str:
        return json.dumps({"failure_summary": summary, "patch": {"reasoning": "", "edits": []}})

    replies = (
        seen({"failure_type": "units", "count": 9, "description": "No unit given."}, "all late"),
        seen({"description": "Other."}, {"count": 3}),
    )
    proposals, shown = reflected([graded("000")], *replies)
    first, second = (tuple(names) for _, names in groups(shown))
    assert proposals[0].patterns == (
        Pattern(words="units: No unit given.", count=2, tasks=first),
        Pattern(words="all late", tasks=first),
    ), "a count is cut to the size of the minibatch, and a bare text is welcome"
    assert proposals[1].patterns == (Pattern(words="Other.", tasks=second),)


def test_what_successes_have_in_common_is_kept_too() -> None:
    reply = '{"success_patterns": ["Cites a source."], "patch": {"edits": []}, "batch_size": 7}'
    (proposal,), _ = reflected([graded("1")], reply)
    assert proposal.patterns == (Pattern(words="Cites a source.", tasks=("t0",)),)


def test_suggestions_and_documents_are_asked_for_and_read_by_their_own_contract() -> None:
    suggestion = {"type": "add_rule", "title": "Units", "instruction": "Give the unit.", "priority_hint": "high"}
    reply = json.dumps({"patch": {"revise_suggestions": [suggestion, {**suggestion, "instruction": " "}]}})
    (proposal,), (shown,) = reflected([graded("0")], reply, mode="rewrite_from_suggestions")
    assert "revise_suggestions" in shown.system
    (change,) = proposal.patch.changes
    assert isinstance(change, Suggestion)
    assert (change.kind, change.instruction, change.tasks) == ("add_rule", "Give the unit.", ("t0",))
    drafts = [{"new_skill": "# New\n", "change_summary": ["All."]}, {"new_skill": SKILL.rendered + "\n"}]
    reply = json.dumps({"patch": {"skill_candidates": drafts}})
    (proposal,), _ = reflected([graded("0")], reply, mode="full_rewrite_minibatch", edit_budget=None)
    assert [change.new_skill for change in proposal.patch.drafts] == ["# New\n"], "the same document is no proposal"


def test_a_reply_by_another_contract_is_sent_back_and_not_taken_for_no_change() -> None:
    (proposal,), shown = reflected([graded("0")], NO_EDITS, mode="full_rewrite_minibatch", edit_budget=None)
    assert len(shown) == 2
    assert "skill_candidates" in proposal.unusable


def test_the_files_of_a_skill_folder_are_shown_but_not_its_programs() -> None:
    skill = Skill.from_files({"SKILL.md": "# S\n", "references/a.md": "Alpha.", "scripts/run.py": "print(1)"})
    _, (shown,) = reflected([graded("0")], skill=skill)
    assert '<file path="references/a.md">\nAlpha.\n</file>' in shown.asked
    assert "print(1)" not in shown.asked


@pytest.mark.parametrize("bad", [{"minibatch_size": 0}, {"transcript_tokens": 0}, {"prompt_tokens": 9}])
def test_settings_that_make_no_sense_are_refused(bad: dict[str, int]) -> None:
    with pytest.raises(msgspec.ValidationError, match=r"reflect\."):
        msgspec.convert(bad, ReflectSettings)


REMINDED = json.dumps({"patch": {"reasoning": "", "edits": []}, "appendix_notes": ["Mind it.", {"note": "And this."}]})


@pytest.mark.parametrize(
    ("kinds", "asked", "notes"),
    [
        ((), [False, False], [0, 0]),
        (("failure",), [True, False], [2, 0]),
        (("failure", "success"), [True, True], [2, 2]),
    ],
)
def test_reminders_are_asked_of_the_kinds_that_may_leave_some(
    kinds: tuple[Source, ...], asked: list[bool], notes: list[int]
) -> None:
    proposals, shown = reflected([graded("01")], REMINDED, reminders_from=kinds)
    assert ["appendix_notes" in each.system for each in shown] == asked
    assert [len(proposal.patch.notes) for proposal in proposals] == notes


@pytest.mark.parametrize(
    ("said", "notes"), [('"Mind it."', ("Mind it.",)), ("[]", ()), ('[{"content": "So."}]', ("So.",))]
)
def test_reminders_come_in_several_forms(said: str, notes: tuple[str, ...]) -> None:
    reply = f'{{"patch": {{"edits": []}}, "appendix_notes": {said}}}'
    (proposal,), _ = reflected([graded("0")], reply, reminders_from=("failure",))
    assert proposal.patch.notes == notes


def test_without_reminders_a_strange_key_is_ignored() -> None:
    reply = '{"patch": {"edits": []}, "appendix_notes": 7}'
    (proposal,), shown = reflected([graded("0")], reply)
    assert (proposal.unusable, len(shown)) == ("", 1)
