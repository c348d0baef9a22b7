"""Shows the optimizer what went wrong, and right, in small groups, and collects the edits it proposes.
Owns the groups, what is shown of a trajectory, and the reply contract; refuses to know what becomes of the edits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from skillopt.domain.chat import Message
from skillopt.domain.progress.batches import BatchSpec
from skillopt.domain.progress.memory import Memory
from skillopt.domain.rollouts import Answered, Rollout
from skillopt.domain.scores import Scoreboard, Scored
from skillopt.domain.seeds import shuffled
from skillopt.domain.skill import SKILL_FILE, Edit, EditOp, Patch, Skill
from skillopt.domain.tasks import Task
from skillopt.kernel.dialogue import Conversation, Unusable, converse
from skillopt.kernel.run import Run
from skillopt.kernel.work import Asker
from skillopt.phases.consolidate.notes import SpelledNote, spelled
from skillopt.phases.prompting import fill, shipped_prompt, shortened
from skillopt.phases.recall import recalled

Source = Literal["failure", "success"]
_WRONG = 1e-9
_FEWEST_CHARACTERS = 200


class ReflectSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Config section `reflect`: what the optimizer is shown.

    minibatch_size: How many answers are shown in one request.
    failures_only: Whether right answers are left out.
    show_references: Whether the right answers of train tasks are shown too.
    transcript_characters: About how much of one case is shown; the middle of longer texts is left out.
    """

    minibatch_size: int = 8
    failures_only: bool = False
    show_references: bool = False
    transcript_characters: int = 6000

    def __post_init__(self) -> None:
        if self.minibatch_size < 1 or self.transcript_characters < _FEWEST_CHARACTERS:
            raise ValueError(
                "reflect.minibatch_size must be at least 1, "
                f"reflect.transcript_characters at least {_FEWEST_CHARACTERS}"
            )


class Graded(msgspec.Struct, frozen=True, kw_only=True):
    """One microbatch with what became of its tasks."""

    batch: BatchSpec
    rollouts: tuple[Rollout, ...]
    board: Scoreboard


class Briefing(msgspec.Struct, frozen=True, kw_only=True):
    """What every reflection of a step is told besides its own cases; a budget of None means any number of edits.

    `reminders_from` are the kinds of cases that may also lead to reminders for the appendix.
    """

    skill: Skill
    edit_budget: int | None
    memory: Memory
    reminders_from: tuple[Source, ...] = ()


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """What one group led to: a patch, or why there is none."""

    source: Source
    minibatch: int
    patch: Patch
    unusable: str = ""


class EditReply(msgspec.Struct, frozen=True):
    """One edit in a reply."""

    op: Literal["append", "insert_after", "replace", "delete", "add"]
    content: str = ""
    target: str | None = ""
    file: str = SKILL_FILE


class PatchReply(msgspec.Struct, frozen=True):
    """The patch in a reply."""

    reasoning: str = ""
    edits: tuple[EditReply, ...] = ()


class ReflectReply(msgspec.Struct, frozen=True):
    """What a reflection must answer; other keys are welcome and ignored."""

    patch: PatchReply


class NotingReply(ReflectReply, frozen=True):
    """What a reflection must answer that may also leave reminders."""

    appendix_notes: str | tuple[str | SpelledNote, ...] = ()


class _Case(msgspec.Struct, frozen=True):
    """One answered task with its score."""

    task: Task
    answer: str
    scored: Scored


class _Group(msgspec.Struct, frozen=True):
    """One minibatch of cases of one kind."""

    source: Source
    number: int
    cases: tuple[_Case, ...]


async def reflect(
    run: Run, asker: Asker, settings: ReflectSettings, graded: Sequence[Graded], briefing: Briefing
) -> tuple[Proposal, ...]:
    """Return what each minibatch led to, failures first, in the order of the minibatches."""
    groups = tuple(_groups(graded, settings))
    prompts = [_prompt(group, settings, briefing) for group in groups]
    conversation = Conversation(
        asker=asker, phase="reflect", contract=NotingReply if briefing.reminders_from else ReflectReply
    )
    replies = await converse(run, conversation, prompts)
    return tuple(_proposal(group, reply, briefing) for group, reply in zip(groups, replies, strict=True))


def _groups(graded: Sequence[Graded], settings: ReflectSettings) -> Iterator[_Group]:
    """Cut each microbatch's failures and successes, each shuffled by its own seed, into minibatches."""
    kinds: tuple[Source, ...] = ("failure",) if settings.failures_only else ("failure", "success")
    for kind in kinds:
        number = 0
        for each in graded:
            seed = each.batch.seed + (kind == "success")
            cases = shuffled(_cases(each, kind), seed)
            for start in range(0, len(cases), settings.minibatch_size):
                yield _Group(kind, number, cases[start : start + settings.minibatch_size])
                number += 1


def _cases(graded: Graded, kind: Source) -> Iterator[_Case]:
    for task, rollout, scored in zip(graded.batch.tasks, graded.rollouts, graded.board.rows, strict=True):
        if isinstance(rollout, Answered) and scored.score is not None:
            wrong = scored.score.hard < _WRONG
            if wrong == (kind == "failure"):
                yield _Case(task, rollout.text, scored)


def _prompt(group: _Group, settings: ReflectSettings, briefing: Briefing) -> tuple[Message, ...]:
    name = "reflect_failures" if group.source == "failure" else "reflect_successes"
    budget = "any number of" if briefing.edit_budget is None else str(briefing.edit_budget)
    parts = [
        f"# The skill\n\n<skill>\n{briefing.skill.rendered}\n</skill>",
        f"# The budget\n\nEdit budget: {budget}",
        *recalled(briefing.memory),
        *(_shown(number, case, settings) for number, case in enumerate(group.cases, 1)),
    ]
    system = fill(shipped_prompt(name), {"edit_budget": budget})
    if group.source in briefing.reminders_from:
        system = f"{system}\n{shipped_prompt('reflect_notes')}"
    return (Message("system", system), Message("user", "\n\n".join(parts)))


def _shown(number: int, case: _Case, settings: ReflectSettings) -> str:
    """Show a case: the task and the answer, shortened in the middle where they are long, and what grading found."""
    limit = settings.transcript_characters // 2
    task = case.task
    asked = task.input if isinstance(task.input, str) else "\n".join(turn.content for turn in task.input)
    context = "" if task.context is None else f"{task.context}\n\n"
    lines = [
        f"# Task {number}" + (f" ({task.type})" if task.type else ""),
        shortened(context + asked, limit),
        f"## Answer\n\n{shortened(case.answer, limit)}",
    ]
    if case.scored.score is not None and case.scored.score.feedback:
        lines.append(f"## What grading found\n\n{shortened(case.scored.score.feedback, limit)}")
    if settings.show_references and task.references:
        lines.append(f"## Right answer\n\n{shortened(' | '.join(task.references), limit)}")
    return "\n\n".join(lines)


def _proposal(group: _Group, reply: ReflectReply | Unusable, briefing: Briefing) -> Proposal:
    if isinstance(reply, Unusable):
        return Proposal(
            source=group.source, minibatch=group.number, patch=Patch.empty(), unusable=f"{reply.kind}: {reply.why}"
        )
    tasks = tuple(case.task.id for case in group.cases)
    edits = tuple(
        Edit(
            op=EditOp.parse(edit.op),
            content=edit.content,
            target="" if edit.target is None else edit.target,
            file=edit.file,
            source=group.source,
            minibatches=(group.number,),
            tasks=tasks,
        )
        for edit in reply.patch.edits[: briefing.edit_budget]
    )
    heeded = group.source in briefing.reminders_from
    notes = tuple(spelled(reply.appendix_notes)) if isinstance(reply, NotingReply) and heeded else ()
    return Proposal(
        source=group.source,
        minibatch=group.number,
        patch=Patch(reasoning=reply.patch.reasoning, edits=edits, notes=notes),
    )
