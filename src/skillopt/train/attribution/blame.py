"""Where each line of each skill of a run came from: a pure fold over the run's events, like a blame of its history.
Owns the match of lines to edits; refuses to know files, and decides nothing: verdicts are quoted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

import msgspec

from skillopt.domain.skill.markdown.lines import lines
from skillopt.kernel.events import (
    BatchGraded,
    CandidateMade,
    EditFact,
    EpochEnded,
    Event,
    FrontierMerged,
    GateDecided,
    Measured,
    RunEnded,
    SkillKept,
    StepBegan,
    StepEnded,
    TaskScore,
)
from skillopt.train.attribution.lineage import carried

SEED = "initial_skill"
OWNER = "region_owner"
_RIGHT = 1.0


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """What brought lines into a skill: the seed, or a change with the gate's evidence for it.

    `kept` is false for a candidate that the gate did not let in. `better` and `worse` are the val tasks that scored
    so with the change, compared with the skill it was made from.
    """

    name: str
    step: int | None = None
    kept: bool = True
    gate: GateDecided | None = None
    better: tuple[str, ...] = ()
    worse: tuple[str, ...] = ()


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One line and its origin; the edit is None where no single edit wrote it.

    `failed_without` are the train tasks that failed before the line was there and led to its edit.
    """

    text: str
    origin: str
    edit: EditFact | None = None
    failed_without: tuple[str, ...] = ()


Pages = dict[str, tuple[Line, ...]]


class Blame(msgspec.Struct, frozen=True, kw_only=True):
    """The skills of a run by digest, line by line, as far as the run has come.

    `lender` is the skill whose lines are put into another one, until a gate has spoken on that.
    """

    pages: dict[str, Pages] = {}
    origins: dict[str, Origin] = {}
    skills: dict[str, SkillKept] = {}
    measured: dict[str, Measured] = {}
    step: StepBegan | None = None
    failed: frozenset[str] = frozenset()
    edits: tuple[EditFact, ...] = ()
    last: str = ""
    lender: str = ""


def blame_of(events: Iterable[Event]) -> Blame:
    """Return where every line of every skill in these events came from."""
    return reduce(_after, events, Blame())


def _after(blame: Blame, event: Event) -> Blame:
    replace = msgspec.structs.replace
    match event:
        case SkillKept():
            known = replace(blame, skills={**blame.skills, event.digest: event})
            return known if blame.pages else _seeded(known, event)
        case Measured(split="val"):
            return replace(blame, measured={**blame.measured, event.skill_digest: event})
        case StepBegan():
            worn = _ungated(blame, event.skill_digest, SEED)
            return replace(worn, step=event, failed=frozenset(), edits=(), last=event.skill_digest)
        case BatchGraded():
            return replace(blame, failed=blame.failed | {row.task_id for row in event.rows if _is_wrong(row)})
        case CandidateMade():
            applied = tuple(edit for edit in event.edits if edit.status == "applied")
            return replace(blame, edits=applied)
        case FrontierMerged():
            return replace(blame, lender=event.other_digest)
        case GateDecided():
            return replace(_decided(blame, event), lender="")
        case _:
            return _ended(blame, event)


def _ended(blame: Blame, event: Event) -> Blame:
    if isinstance(event, StepEnded | EpochEnded):
        traced = _ungated(blame, event.skill_digest, event.current_origin)
        return msgspec.structs.replace(traced, step=None, failed=frozenset(), edits=(), last=event.skill_digest)
    if isinstance(event, RunEnded):
        return _ungated(_ungated(blame, event.last_digest, event.current_origin), event.best_digest, event.best_origin)
    return blame


def _ungated(blame: Blame, digest: str, origin: str) -> Blame:
    """A skill that stands without a verdict of its own was changed where no model looks, by a region's owner."""
    return _traced(blame, blame.last, digest, Origin(name=OWNER if origin in blame.origins else origin))


def _seeded(blame: Blame, seed: SkillKept) -> Blame:
    """The first skill that is told is the one the run started from."""
    pages = {name: tuple(Line(text=text, origin=SEED) for text in _texts(whole)) for name, whole in seed.files.items()}
    return msgspec.structs.replace(
        blame, pages={seed.digest: pages}, origins={SEED: Origin(name=SEED)}, last=seed.digest
    )


def _decided(blame: Blame, gate: GateDecided) -> Blame:
    """A candidate gets its lines when the gate has spoken; one that is accepted later than refused gets them anew."""
    if gate.skill_digest in {"", gate.parent_digest}:
        return blame
    blame = _ungated(blame, gate.parent_digest, SEED)
    before, after = blame.measured.get(gate.parent_digest), blame.measured.get(gate.skill_digest)
    origin = Origin(
        name=gate.origin,
        step=None if blame.step is None else blame.step.step,
        kept=gate.verdict == "accept",
        gate=gate,
        better=_flipped(before, after, up=True),
        worse=_flipped(before, after, up=False),
    )
    return _traced(blame, gate.parent_digest, gate.skill_digest, origin)


def _traced(blame: Blame, parent: str, digest: str, origin: Origin) -> Blame:
    known = blame.pages.get(digest)
    settled = known is not None and (not origin.kept or _is_kept(blame, known))
    if settled or digest not in blame.skills or parent not in blame.pages:
        return blame
    before = blame.pages[parent]
    files = blame.skills[digest].files.items()
    pages = {name: _lines(blame, before.get(name, ()), name, whole, origin) for name, whole in files}
    known_origins = blame.origins
    if origin.gate is not None or origin.name not in known_origins:
        known_origins = {**known_origins, origin.name: origin}  # what a gate said of it is not forgotten
    return msgspec.structs.replace(blame, pages={**blame.pages, digest: pages}, origins=known_origins)


def _is_kept(blame: Blame, pages: Pages) -> bool:
    return all(blame.origins[line.origin].kept for page in pages.values() for line in page)


def _lines(blame: Blame, before: Sequence[Line], file: str, whole: str, origin: Origin) -> tuple[Line, ...]:
    texts = _texts(whole)
    edits = [edit for edit in blame.edits if edit.file == file]
    lent = {line.text: line for line in _page(blame, blame.lender, file) if line.text.strip()}
    places = carried([line.text for line in before], texts)
    return tuple(
        before[place]
        if place is not None
        else lent[text]
        if text in lent
        else _new_line(blame, edits, number, text, origin)
        for number, (text, place) in enumerate(zip(texts, places, strict=True), start=1)
    )


def _page(blame: Blame, digest: str, file: str) -> tuple[Line, ...]:
    pages = blame.pages.get(digest)
    return () if pages is None or file not in pages else pages[file]


def _new_line(blame: Blame, edits: Sequence[EditFact], number: int, text: str, origin: Origin) -> Line:
    edit = _writer(edits, number, text.strip())
    failed = () if edit is None else tuple(task for task in edit.tasks if task in blame.failed)
    return Line(text=text, origin=origin.name, edit=edit, failed_without=failed)


def _writer(edits: Sequence[EditFact], number: int, words: str) -> EditFact | None:
    """Return the edit that holds these words as a line, or else inside or around one; the nearest of several."""

    def distance(edit: EditFact) -> int:
        return abs(number - (number if edit.line is None else edit.line))

    exact = [edit for edit in edits if words in {line.strip() for line in edit.content.splitlines()}]
    loose = [edit for edit in edits if words and edit.content.strip() and _overlap(edit.content.strip(), words)]
    return min(exact or loose, key=distance, default=None)


def _overlap(content: str, words: str) -> bool:
    return words in content or content in words


def _texts(whole: str) -> list[str]:
    return [line.text for line in lines(whole)]


def _is_wrong(row: TaskScore) -> bool:
    return row.hard is not None and row.hard < _RIGHT


def _flipped(before: Measured | None, after: Measured | None, *, up: bool) -> tuple[str, ...]:
    """Return the tasks whose mean over measured trials rose (or fell)."""
    if before is None or after is None:
        return ()
    old, new = _means(before), _means(after)
    return tuple(task for task in old if task in new and (new[task] > old[task] if up else new[task] < old[task]))


def _means(measured: Measured) -> dict[str, float]:
    scores: dict[str, list[float]] = {}
    for row in measured.rows:
        if row.hard is not None:
            scores.setdefault(row.task_id, []).append(row.hard)
    return {task: sum(values) / len(values) for task, values in scores.items()}
