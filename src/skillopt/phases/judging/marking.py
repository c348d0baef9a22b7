"""Has answers marked by a judge: each as often as the settings say, its mark the median.
Owns the reply contract and what readings come to; refuses to know what a mark decides. An unread answer has no mark."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Annotated

import msgspec

from skillopt.domain.chat import Message
from skillopt.domain.judging import Agreement, Unjudged, disagreement
from skillopt.domain.scores import Score
from skillopt.domain.tasks import Task
from skillopt.domain.texts import without
from skillopt.kernel.dialogue import Conversation, Unusable, converse
from skillopt.kernel.run import Run
from skillopt.kernel.work import Asker
from skillopt.phases.judging.material import exhibits_of, shown
from skillopt.phases.judging.settings import JudgeSettings
from skillopt.phases.prompting import shipped_prompt, shortened

_LONGEST_REASON = 1000


class MarkReply(msgspec.Struct, frozen=True):
    """What a judge must answer; other keys are welcome and ignored."""

    score: Annotated[float, msgspec.Meta(ge=0, le=1)]
    reason: str = ""


class Judge(msgspec.Struct, frozen=True, kw_only=True):
    """Who judges, and how."""

    asker: Asker
    settings: JudgeSettings


class Paper(msgspec.Struct, frozen=True):
    """One answer to be marked, with the task it answers."""

    task: Task
    case: Unjudged


class Marked(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one answer: its whole score, or the cause of having none, and whether each reading passed it."""

    score: Score | None
    cause: str | None
    passes: tuple[bool, ...]


async def mark(run: Run, phase: str, judge: Judge, papers: Sequence[Paper]) -> tuple[Marked, ...]:
    """Return what became of each answer, in order; all readings of all answers are asked at once."""
    repeats = judge.settings.repeats
    conversation = Conversation(asker=judge.asker, phase=phase, contract=MarkReply)
    prompts = [_prompt(paper, reading) for paper in papers for reading in range(repeats)]
    replies = await converse(run, conversation, prompts)
    return tuple(
        _marked(paper, replies[place * repeats : (place + 1) * repeats], judge.settings)
        for place, paper in enumerate(papers)
    )


def agreement(marked: Sequence[Marked]) -> Agreement:
    """Return how far the readings of these answers agree."""
    shares = [share for share in (disagreement(each.passes) for each in marked) if share is not None]
    return Agreement(
        answers=len(marked),
        unscored=sum(each.score is None for each in marked),
        compared=len(shares),
        disagreed=sum(shares),
    )


def _prompt(paper: Paper, reading: int) -> tuple[Message, ...]:
    exhibits = [*exhibits_of(paper.task, paper.case.rubric, paper.case.references), ("answer", paper.case.answer)]
    asked = f"{shown(exhibits, reading)}\n\nMark the answer by the rubric."
    return (Message("system", shipped_prompt("judge")), Message("user", asked))


def _marked(paper: Paper, replies: Sequence[MarkReply | Unusable], settings: JudgeSettings) -> Marked:
    """Half of the readings or fewer are no judgement: then the answer has no score, and the cause is kept."""
    read = [reply for reply in replies if isinstance(reply, MarkReply)]
    passes = tuple(reply.score >= settings.threshold for reply in read)
    if 2 * len(read) <= len(replies):
        lost = next(reply for reply in replies if isinstance(reply, Unusable))
        return Marked(score=None, cause=f"judge: {lost.kind}", passes=passes)
    middle = median(reply.score for reply in read)
    nearest = min(read, key=lambda reply: abs(reply.score - middle))
    reason = shortened(without(nearest.reason, paper.case.references), _LONGEST_REASON)
    score = Score(hard=float(middle >= settings.threshold), soft=middle, feedback=reason)
    return Marked(score=paper.case.scored(score), cause=None, passes=passes)
