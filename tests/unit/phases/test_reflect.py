from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import msgspec
import pytest

from skillopt.domain.progress.batches import BatchSpec
from skillopt.domain.progress.memory import Memory, Tried
from skillopt.domain.rollouts import Answered, Failed, Failure, Rollout
from skillopt.domain.scores import Score, Scoreboard, Scored
from skillopt.domain.seeds import shuffled
from skillopt.domain.skill import EditOp, Skill
from skillopt.domain.tasks import Task
from skillopt.kernel.run import Run
from skillopt.phases.reflect import Briefing, Graded, Proposal, ReflectSettings, Source, reflect
from skillopt.testing.conversation import BrainReply, Conversation
from skillopt.testing.faults import FaultKind
from skillopt.testing.scripted import ScriptedChat
from tests.unit.kernel.bench import Bench

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
    reminders_from: tuple[Source, ...] = (),
) -> tuple[tuple[Proposal, ...], list[Conversation]]:
    """Reflect on batches with an optimizer that gives these replies in turn; return proposals and what it was shown."""
    shown: list[Conversation] = []

    def brain(conversation: Conversation) -> BrainReply:
        shown.append(conversation)
        said = replies[min(len(shown), len(replies)) - 1] if replies else NO_EDITS
        return BrainReply(fault=FaultKind.CONTEXT) if said == "fail" else BrainReply(text=said)

    bench = Bench(ScriptedChat(brain, model="opt"))

    async def work(run: Run) -> tuple[Proposal, ...]:
        briefing = Briefing(skill=SKILL, edit_budget=edit_budget, memory=memory, reminders_from=reminders_from)
        return await reflect(run, bench.asker, settings, batches, briefing)

    return bench.live(work), shown


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
    assert "at most 3 edits" in shown.system
    assert "Edit budget: 3" in shown.asked
    assert "<t0> {{edit_budget}} edits" in shown.asked
    assert "A rule with {{edit_budget}}." in shown.asked


def test_long_texts_are_shortened_with_a_word_on_it() -> None:
    batch = graded("0")
    long = Answered(task_id="t0", trial=0, text="y" * 50_000)
    settings = ReflectSettings(transcript_characters=400)
    _, (shown,) = reflected([Graded(batch=batch.batch, rollouts=(long,), board=batch.board)], settings=settings)
    assert "49801 characters left out" in shown.asked
    assert len(shown.asked) < 2000


@pytest.mark.parametrize(("budget", "kept"), [(None, 3), (2, 2), (0, 0)])
def test_what_passes_the_budget_is_cut_in_order(budget: int | None, kept: int) -> None:
    reply = patch(*({"op": "append", "content": f"edit {number}"} for number in range(3)))
    (proposal,), _ = reflected([graded("0")], reply, edit_budget=budget)
    assert [edit.content for edit in proposal.patch.edits] == [f"edit {number}" for number in range(3)][:kept]


def test_an_edit_keeps_its_evidence() -> None:
    reply = patch(
        {"op": "add", "content": "New.", "target": None, "support": 99}, {"op": "delete", "target": "# Rules"}
    )
    (proposal,), _ = reflected([graded("00")], reply)
    new, gone = proposal.patch.edits
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
            action="reject",
            failed_tasks=2,
            tasks=6,
            edits=(f"append: idea {number}", "x" * 1000),
            candidate=0.1,
            incumbent=0.2,
        )
        for number in range(1, 21)
    )
    _, (shown,) = reflected([graded("0")], memory=Memory(tried=tried))
    told = [number for number in range(1, 21) if f"idea {number} " in shown.asked]
    assert told == list(range(13, 21))
    assert "x" * 500 not in shown.asked


@pytest.mark.parametrize("bad", [{"minibatch_size": 0}, {"transcript_characters": 0}])
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
