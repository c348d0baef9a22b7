"""Shows the optimizer what went wrong, and right, in small groups, and collects the changes it proposes.
Owns the groups and what is told of each; refuses to know what becomes of the changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from skillopt.domain.progress.batches import BatchSpec
from skillopt.domain.progress.memory import Memory, Pattern
from skillopt.domain.rollouts import Answered, Rollout
from skillopt.domain.scores import Scoreboard
from skillopt.domain.seeds import shuffled
from skillopt.domain.skill import Change, Draft, Patch, Skill
from skillopt.kernel.dialogue import Unusable
from skillopt.kernel.plugins.members import Reflects
from skillopt.phases.proposals.author import Author, Briefing, said_of
from skillopt.phases.proposals.contracts import FailureReply, ReflectReply
from skillopt.phases.proposals.own import own_reflection
from skillopt.phases.proposals.transcripts import Case, Shown, shown_cases, tokens_of
from skillopt.phases.recall import recalled

Source = Literal["failure", "success"]
_WRONG = 1e-9
_FEWEST_TOKENS = 50


class ReflectSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Config section `reflect`: what the optimizer is shown.

    minibatch_size: How many answers are shown in one request.
    failures_only: Whether right answers are left out.
    show_references: Whether the right answers of train tasks are shown too.
    show_trace: Whether the whole of an answer is shown, or only its last paragraph.
    transcript_tokens: About how many tokens are shown of one case; the least telling part of longer ones is left out.
    prompt_tokens: About how many tokens one request may have; where cases are many and long, each is shown shorter.
    ledger: Whether later steps are told what earlier ones tried.
    """

    minibatch_size: int = 8
    failures_only: bool = False
    show_references: bool = False
    show_trace: bool = True
    transcript_tokens: int = 1500
    prompt_tokens: int = 60_000
    ledger: bool = True

    def __post_init__(self) -> None:
        if self.minibatch_size < 1 or min(self.transcript_tokens, self.prompt_tokens) < _FEWEST_TOKENS:
            raise ValueError(
                "reflect.minibatch_size must be at least 1, "
                f"reflect.transcript_tokens and reflect.prompt_tokens at least {_FEWEST_TOKENS}"
            )

    def told(self, memory: Memory) -> Memory:
        """Return what the optimizer is told of a memory: advice always, the ledger only where it is wanted."""
        return memory if self.ledger else msgspec.structs.replace(memory, tried=())


class Graded(msgspec.Struct, frozen=True, kw_only=True):
    """One microbatch with what became of its tasks."""

    batch: BatchSpec
    rollouts: tuple[Rollout, ...]
    board: Scoreboard


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """What one group led to: a patch and the patterns that were seen, or why there is none."""

    source: Source
    minibatch: int
    patch: Patch
    patterns: tuple[Pattern, ...] = ()
    tasks: tuple[str, ...] = ()
    unusable: str = ""


class _Group(msgspec.Struct, frozen=True):
    """One minibatch of cases of one kind."""

    source: Source
    number: int
    cases: tuple[Case, ...]

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(case.task.id for case in self.cases)


async def reflect(
    author: Author,
    settings: ReflectSettings,
    graded: Sequence[Graded],
    briefing: Briefing,
    own: Reflects | None = None,
) -> tuple[Proposal, ...]:
    """Return what each minibatch led to, failures first, in the order of the minibatches.

    An environment that reflects itself says what is shown of a minibatch, or what is changed; then nobody is asked.
    """
    groups = [group for kind in _kinds(settings, briefing) for group in _groups(graded, settings, kind)]
    told = [
        None if own is None else own_reflection(own, author, briefing, group.cases, wrong=group.source == "failure")
        for group in groups
    ]
    asked = [place for place, word in enumerate(told) if not isinstance(word, Patch)]
    questions = [_question(author, groups[place], settings, briefing, told[place]) for place in asked]
    replies = await author.ask("reflect", "reflect", author.mode.reflecting, questions)
    answered = dict(zip(asked, replies, strict=True))
    return tuple(
        _made(group, word, briefing) if isinstance(word, Patch) else _proposal(group, answered[place], briefing)
        for place, (group, word) in enumerate(zip(groups, told, strict=True))
    )


def _kinds(settings: ReflectSettings, briefing: Briefing) -> tuple[Source, ...]:
    """Return the kinds of cases that can lead to something: without a budget only those that remind."""
    kinds: tuple[Source, ...] = ("failure",) if settings.failures_only else ("failure", "success")
    return tuple(kind for kind in kinds if briefing.edit_budget != 0 or kind in briefing.reminders_from)


def _groups(graded: Sequence[Graded], settings: ReflectSettings, kind: Source) -> Iterator[_Group]:
    """Cut each microbatch's failures or successes, shuffled by its own seed, into minibatches."""
    number = 0
    for each in graded:
        seed = each.batch.seed + (kind == "success")
        cases = shuffled(_cases(each, kind), seed)
        for start in range(0, len(cases), settings.minibatch_size):
            yield _Group(kind, number, cases[start : start + settings.minibatch_size])
            number += 1


def _cases(graded: Graded, kind: Source) -> Iterator[Case]:
    for task, rollout, scored in zip(graded.batch.tasks, graded.rollouts, graded.board.rows, strict=True):
        if isinstance(rollout, Answered) and scored.score is not None:
            wrong = scored.score.hard < _WRONG
            if wrong == (kind == "failure"):
                yield Case(task, rollout.text, scored, rollout.turns, rollout.transcript)


def _question(
    author: Author, group: _Group, settings: ReflectSettings, briefing: Briefing, told: str | Patch | None
) -> tuple[str, str]:
    budget = briefing.edit_budget
    system = author.text(
        "reflect_failures" if group.source == "failure" else "reflect_successes",
        edit_budget="any number of" if budget is None else f"at most {budget}",
    )
    parts = [
        *author.about(briefing.skill),
        f"# The budget\n\nEdit budget: {said_of(budget)}",
        *recalled(briefing.memory),
    ]
    if group.source in briefing.reminders_from:
        system = f"{system}\n\n{author.text('reflect_notes')}"
    if isinstance(told, str):
        return system, "\n\n".join([*parts, told])
    room = settings.prompt_tokens - tokens_of(system) - sum(tokens_of(part) for part in parts)
    shown = Shown(tokens=settings.transcript_tokens, references=settings.show_references, trace=settings.show_trace)
    return system, "\n\n".join([*parts, *shown_cases(group.cases, shown, max(_FEWEST_TOKENS, room))])


def _proposal(group: _Group, reply: ReflectReply | Unusable, briefing: Briefing) -> Proposal:
    if isinstance(reply, Unusable):
        why = f"{reply.kind}: {reply.why}"
        return Proposal(
            source=group.source, minibatch=group.number, patch=Patch.empty(), tasks=group.tasks, unusable=why
        )
    notes = tuple(reply.notes()) if group.source in briefing.reminders_from else ()
    seen = reply.failure_summary if group.source == "failure" else reply.success_patterns
    patterns = tuple(pattern for each in seen if (pattern := _pattern(each, group)) is not None)
    patch = Patch(reasoning=reply.patch.reasoning, notes=notes).having(reply.patch.changes())
    return msgspec.structs.replace(_made(group, patch, briefing), patterns=patterns)


def _made(group: _Group, patch: Patch, briefing: Briefing) -> Proposal:
    """Return a patch as what this minibatch led to: within the budget, and with its evidence."""
    changes = (
        msgspec.structs.replace(change, source=group.source, minibatches=(group.number,), tasks=group.tasks)
        for change in patch.changes[: briefing.edit_budget]
        if not _repeats(change, briefing.skill)
    )
    return Proposal(source=group.source, minibatch=group.number, patch=patch.having(changes), tasks=group.tasks)


def _repeats(change: Change, skill: Skill) -> bool:
    """Tell whether a whole document is the one that there is."""
    return isinstance(change, Draft) and change.new_skill.strip() == skill.rendered.strip()


def _pattern(seen: FailureReply | str, group: _Group) -> Pattern | None:
    """Return a kind of failure as its own minibatch showed it; a count past the minibatch's size is cut to it."""
    if isinstance(seen, str):
        return Pattern(words=seen, tasks=group.tasks) if seen.strip() else None
    words = ": ".join(part for part in (seen.failure_type.strip(), seen.description.strip()) if part)
    count = max(0, min(seen.count, len(group.cases))) if isinstance(seen.count, int) else None
    return Pattern(words=words, count=count, tasks=group.tasks) if words else None
