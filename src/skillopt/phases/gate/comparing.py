"""Compares a candidate with the incumbent by a paired test: has measured what the test asks for, and words its finding.
Owns the way from a finding to a verdict; refuses to know the arithmetic of the test and how a skill is measured."""

from __future__ import annotations

from collections import defaultdict
from typing import Protocol, TypedDict

import msgspec

from skillopt.domain.evidence.course import Answers, Course, Finding
from skillopt.domain.evidence.paired import paired
from skillopt.domain.evidence.signs import signs
from skillopt.domain.evidence.terms import Terms
from skillopt.domain.evidence.values import values
from skillopt.domain.progress.standing import Standing
from skillopt.domain.progress.state import Gated
from skillopt.domain.scores import Metric, MetricName, Scoreboard, Scored
from skillopt.domain.skill import Skill
from skillopt.domain.verdicts import Accept, Inconclusive, Reject, Verdict
from skillopt.phases.gate.settings import GateSettings


class Val(Protocol):
    """Val, as a gate may have it measured."""

    @property
    def task_ids(self) -> tuple[str, ...]:
        """The ids of the tasks, by their place."""
        ...

    async def whole(self, skill: Skill) -> Scoreboard:
        """Put every task to a skill, as often as a bar needs, in trials that decided nothing; tell what it scored."""
        ...

    def foresee(self, gated: Gated) -> None:
        """Take note of what the gate will come to, but for the fresh trials that it asks for next."""
        ...

    async def some(self, skill: Skill, places: tuple[int, ...], trial: int) -> Scoreboard:
        """Put some tasks to a skill, for the gate's trial of this number."""
        ...


class Told(TypedDict):
    """What every verdict tells besides its reason."""

    candidate: float | None
    incumbent: float | None
    best: float | None
    n: int
    calls: int


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """Whom a candidate is compared with, and in which number; `whole` says that later ones compare it task by task."""

    metric: Metric
    incumbent: Standing
    best: Standing
    whole: bool = False

    @property
    def best_is_beaten(self) -> bool:
        """Whether who beats the incumbent has beaten the best, since they are one."""
        return self.incumbent.skill.rendered_digest == self.best.skill.rendered_digest

    def told(self, *, candidate: float | None = None, n: int = 0, calls: int = 0) -> Told:
        """Return what a verdict tells of this comparison."""
        incumbent, best = self.incumbent.board.value(self.metric), self.best.board.value(self.metric)
        return Told(candidate=candidate, incumbent=incumbent, best=best, n=n, calls=calls)

    def knowing(self, before: Scoreboard) -> Compared:
        """Return this comparison with what a gate found out about a skill that nobody had measured yet."""
        if self.incumbent.board.rows:
            return self
        incumbent = msgspec.structs.replace(self.incumbent, board=before)
        best = self.best if self.best.board.rows else msgspec.structs.replace(self.best, board=before)
        return msgspec.structs.replace(self, incumbent=incumbent, best=best)


async def compare(settings: GateSettings, val: Val, terms: Terms, skill: Skill, compared: Compared) -> Gated:
    """Follow the test that suits the answers; an accepted skill is measured afresh, for later gates and its claim.

    Where answers do not vary, what was asked is as good as asked afresh; the rest waits until a gate, or the end, needs
    it, unless nothing was wrong so far.
    """
    known = _known(compared.incumbent.board, val.task_ids, terms.trials, compared.metric)
    if settings.deterministic:
        course = signs(terms)
    elif compared.metric.name is MetricName.HARD:
        course = paired(terms, [None if marks is None else sum(mark >= 1.0 for mark in marks) for marks in known])
    else:
        course = values(terms, known)
    finding, board, before = await _followed(course, val, skill, compared)
    compared, calls = compared.knowing(before), len(board.rows)
    told = compared.told(n=len(board.measured_tasks), calls=calls)
    if board.failed > settings.max_failed * calls:
        reason = f"{board.failed} of {calls} val rollouts failed ({board.cause})"
        return Gated(verdict=Inconclusive(reason=reason, **told), board=board, finding=finding)
    if finding.kind != "accept":
        kind = Reject if finding.kind == "reject" else Inconclusive
        return Gated(verdict=kind(reason=worded(finding), **told), board=board, finding=finding)
    waits = (
        settings.deterministic
        and not compared.whole
        and calls < len(val.task_ids)
        and any(score.hard < 1.0 for score in board.scores)
    )
    if waits:
        return Gated(verdict=_accepted(finding, board, compared, told), board=board, bar=board, finding=finding)
    if compared.best_is_beaten:
        foreseen = Accept(reason=worded(finding), new_best=True, **told)
        val.foresee(Gated(verdict=foreseen, board=board, finding=finding))
    bar = await val.whole(skill)
    return Gated(verdict=_accepted(finding, bar, compared, told), board=board, bar=bar, finding=finding)


def worded(finding: Finding) -> str:
    """Return the finding in a sentence: why, and what was seen."""
    seen = f"{finding.wins} won, {finding.losses} lost"
    if finding.p is None:
        return finding.reason
    return f"{finding.reason}: {seen}, p = {finding.p:.2g} at look {finding.look}"


async def _followed(
    course: Course, val: Val, skill: Skill, compared: Compared
) -> tuple[Finding, Scoreboard, Scoreboard]:
    """Have each wave measured that the course asks for; return its finding, and what candidate and incumbent scored."""
    rows: list[Scored] = []
    before: list[Scored] = []
    try:
        wave = next(course)
        while True:
            asked = skill if wave.side == "candidate" else compared.incumbent.skill
            board = await val.some(asked, wave.places, wave.trial)
            (rows if wave.side == "candidate" else before).extend(board.rows)
            wave = course.send(_answers(board, compared.metric))
    except StopIteration as end:
        finding: Finding = end.value
        return finding, Scoreboard(tuple(rows)), Scoreboard(tuple(before))


def _answers(board: Scoreboard, metric: Metric) -> Answers:
    return tuple(None if row.score is None else metric.of(row.score) for row in board.rows)


def _known(board: Scoreboard, task_ids: tuple[str, ...], trials: int, metric: Metric) -> list[tuple[float, ...] | None]:
    """Return the marks of the known trials by place; None where one of them is missing."""
    marks: dict[str, list[float]] = defaultdict(list)
    for row in board.rows:
        if row.score is not None:
            marks[row.task_id].append(metric.of(row.score))
    return [tuple(marks[name]) if len(marks[name]) == trials else None for name in task_ids]


def _accepted(finding: Finding, bar: Scoreboard, compared: Compared, told: Told) -> Verdict:
    """Name the best anew if the incumbent was the best, or if the fresh trials are better than the best's."""
    value, record = bar.value(compared.metric), told["best"]
    overtakes = value is not None and record is not None and value > record
    new_best = overtakes or compared.best_is_beaten
    told = Told(**{**told, "candidate": value})
    return Accept(reason=worded(finding), new_best=new_best, **told)
