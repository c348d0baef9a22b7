"""What a run did to the skill, for a reader: diffs with reasons and evidence, tasks that flipped, edits not taken.
Owns the selection and how much of it is shown; refuses to decide anything: verdicts are quoted, never recomputed."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from skillopt.kernel.events import EditFact, GateDecided, GateEvidence, Measured, TaskScore
from skillopt.kernel.view import RunView, StepView
from skillopt.train.history import average
from skillopt.train.pages.chart import Kind, mark, shape_of
from skillopt.train.pages.markup import Content, Html, element, folded, shortened, table, together

_OPEN_CHANGES = 6
_MOST_CHANGES = 60
_MOST_REASONS = 4
_MOST_ROWS = 150
_LONGEST_DIFF = 6000
_LONGEST_REASONING = 1200
_LONGEST_CELL = 280
_NO_FILE = "/dev/null"
_HEADER_ENDS = ("(before)", "(after)", _NO_FILE)


def diff_lines(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """Return the unified diff of two skills given as texts by file name; empty when they are equal."""
    found: list[str] = []
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        found += difflib.unified_diff(
            [] if old is None else old.splitlines(),
            [] if new is None else new.splitlines(),
            fromfile=_NO_FILE if old is None else f"{name} (before)",
            tofile=_NO_FILE if new is None else f"{name} (after)",
            lineterm="",
        )
    return tuple(found)


def drawn_diff(lines: Sequence[str]) -> Html:
    """Return a diff with its additions and deletions marked, cut where it gets too long to read."""
    parts: list[Content] = []
    room = _LONGEST_DIFF
    for place, line in enumerate(lines):
        if room < 0:
            parts.append(element("span", f"… {len(lines) - place:,} more lines of this diff\n", class_="meta"))
            break
        parts.append(_diff_line(shortened(line, room + 1)))
        room -= len(line) + 1
    return element("pre", *parts, class_="diff", tabindex=0)


def _diff_line(line: str) -> Html:
    text = f"{line}\n"
    if line.startswith("@@") or (line.startswith(("--- ", "+++ ")) and line.endswith(_HEADER_ENDS)):
        return element("span", text, class_="meta")
    if line.startswith("+"):
        return element("ins", text)
    return element("del" if line.startswith("-") else "span", text)


def whole_change(view: RunView, best_digest: str) -> Html:
    """Return the diff from the seed skill to the best."""
    seed = None if view.began is None else view.skills.get(view.began.skill_digest)
    best = view.skills.get(best_digest)
    if seed is None or best is None:
        return element("p", "No skill was measured yet.")
    lines = diff_lines(seed.files, best.files)
    return drawn_diff(lines) if lines else element("p", "The best skill is the seed skill: nothing was changed.")


def accepted_changes(view: RunView) -> Html:
    """Return an article for each accepted step: the diff, the optimizer's reasoning, the gate's evidence."""
    steps = [step for step in view.finished_steps if _kind(step) == "accept"]
    if not steps:
        return element("p", "No step was accepted.")
    shown = [_article(view, step, is_open=place < _OPEN_CHANGES) for place, step in enumerate(steps[:_MOST_CHANGES])]
    return together([*shown, *_left_out(len(steps) - len(shown), "accepted steps")])


def _article(view: RunView, step: StepView, *, is_open: bool) -> Html:
    number, gate = step.began.step, step.gate
    parts: list[Content] = [element("p", *_evidence(gate), class_="evidence")] if gate is not None else []
    said = [element("p", shortened(reasoning, _LONGEST_REASONING)) for reasoning in _reasonings(step)]
    if said:
        parts.append(element("p", "The optimizer’s reasoning:", class_="note"))
        parts.append(element("blockquote", *said[:_MOST_REASONS]))
    before = view.skills.get(step.began.skill_digest)
    after = None if step.candidate is None else view.skills.get(step.candidate.skill_digest)
    if before is not None and after is not None:
        parts.append(drawn_diff(diff_lines(before.files, after.files)))
    return element("article", folded(f"Step {number}", *parts, is_open=is_open))


def _evidence(gate: GateDecided) -> Iterator[Content]:
    yield mark(shape_of(gate.action))
    compared = f" {_number(gate.incumbent)} → {_number(gate.candidate)}"
    yield f"{compared} ({gate.metric}) on {gate.n:,} val tasks, {gate.calls:,} calls. "
    yield f"Gate ({gate.rule}): {shortened(gate.reason, _LONGEST_CELL)}."
    if gate.evidence is not None:
        yield from _shown(gate.evidence)


def _shown(evidence: GateEvidence) -> Iterator[Content]:
    """Say what the paired test saw, in one line, and which tasks it lost."""
    if evidence.effect is not None:
        yield f" Effect {evidence.effect:+.3f} ({_signed(evidence.low)} to {_signed(evidence.high)})"
        yield f"; alpha {evidence.alpha:.2g}, of which {evidence.spent:.2g} was spent by look {evidence.look}."
    if evidence.regressed:
        yield f" Solved before and failing now: {shortened(', '.join(evidence.regressed), _LONGEST_CELL)}."


def _signed(value: float | None) -> str:
    return "not measured" if value is None else f"{value:+.3f}"


def _reasonings(step: StepView) -> tuple[str, ...]:
    """What the optimizer said for the edits that were applied, each once."""
    applied = set() if step.candidate is None else {_words(edit) for edit in step.candidate.edits if _is_applied(edit)}
    said = (
        patch.reasoning.strip()
        for patch in step.patches
        if patch.stage == "reflect" and any(_words(edit) in applied for edit in patch.edits)
    )
    return tuple(dict.fromkeys(reasoning for reasoning in said if reasoning))


def flips(before: Measured | None, after: Measured | None) -> Html:
    """Return the val tasks that got another score, and what grading said about the worse answer."""
    if before is None or after is None:
        return element("p", "The best skill or the seed skill was not measured on val.")
    changed = [(old, new) for old, new in paired(before, after) if old.hard != new.hard]
    better = [pair for pair in changed if _rose(*pair)]
    worse = [pair for pair in changed if not _rose(*pair)]
    return together([*_flip_table("better", better), *_flip_table("worse", worse)])


def paired(before: Measured, after: Measured) -> tuple[tuple[TaskScore, TaskScore], ...]:
    """Return the tasks that were measured both times, each with the mean of its trials."""
    known = {row.task_id: row for row in _by_task(after)}
    pairs = ((row, known.get(row.task_id)) for row in _by_task(before))
    return tuple((old, new) for old, new in pairs if new is not None)


def _by_task(measured: Measured) -> Iterator[TaskScore]:
    rows: dict[str, list[TaskScore]] = defaultdict(list)
    for row in measured.rows:
        if row.hard is not None:
            rows[row.task_id].append(row)
    for name, trials in rows.items():
        hard = average([row.hard for row in trials])
        feedback = next((row.feedback for row in trials if row.feedback), "")
        yield TaskScore(name, 0, hard, average([row.soft for row in trials]), feedback)


def _rose(old: TaskScore, new: TaskScore) -> bool:
    return old.hard is not None and new.hard is not None and new.hard > old.hard


def _flip_table(how: str, pairs: Sequence[tuple[TaskScore, TaskScore]]) -> Iterator[Html]:
    if not pairs:
        yield element("p", f"No val task came out {how} with the best skill than with the seed.")
        return
    rows = (
        (
            old.task_id,
            f"{_number(old.hard)} → {_number(new.hard)}",
            shortened(old.feedback or new.feedback, _LONGEST_CELL),
        )
        for old, new in pairs[:_MOST_ROWS]
    )
    caption = f"Val tasks that came out {how} with the best skill than with the seed: {len(pairs):,}"
    yield table(caption, ("Task", "Seed → best", "What grading said"), rows)
    yield from _left_out(len(pairs) - _MOST_ROWS, "tasks")


def untaken_edits(view: RunView) -> Html:
    """Return the edits that did not enter the skill: those the gate turned down, and those refused by rule."""
    rows = [row for step in view.finished_steps for row in _untaken(step)]
    if not rows:
        return element("p", "Every edit that was proposed for a test passed it.")
    shown = table("Edits that did not enter the skill", ("Step", "Edit", "Why not"), rows[:_MOST_ROWS])
    return together([shown, *_left_out(len(rows) - _MOST_ROWS, "edits")])


def _untaken(step: StepView) -> Iterator[tuple[Content, Content, Content]]:
    if step.candidate is None or step.gate is None:
        return
    number, kind = str(step.began.step), _kind(step)
    for edit in step.candidate.edits:
        words = shortened(_words(edit), _LONGEST_CELL)
        if not _is_applied(edit):
            detail = f": {edit.detail}" if edit.detail else ""
            yield number, words, shortened(f"refused, {edit.status.replace('_', ' ')}{detail}", _LONGEST_CELL)
        elif kind in {"reject", "inconclusive"}:
            verdict = "rejected" if kind == "reject" else "inconclusive"
            yield number, words, together([mark(kind), shortened(f" {verdict}: {step.gate.reason}", _LONGEST_CELL)])


def _left_out(count: int, what: str) -> Iterator[Html]:
    if count > 0:
        yield element("p", f"{count:,} more {what} are left out here; the run folder has them all.", class_="note")


def _kind(step: StepView) -> Kind:
    return "skip" if step.gate is None else shape_of(step.gate.action)


def _is_applied(edit: EditFact) -> bool:
    return edit.status == "applied"


def _words(edit: EditFact) -> str:
    told = " → ".join(text for text in (edit.target, edit.content) if text)
    return f"{edit.op.replace('_', ' ')}: {told}"


def _number(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.3f}"
