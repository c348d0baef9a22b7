"""report.html: one run on one page that opens offline, prints, and runs no script.
Owns the sections and their order; refuses to know files, and to show text of a model as anything but text."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Iterator
from functools import cache

from skillopt.domain.errors import InternalError
from skillopt.kernel.view import RunView
from skillopt.train.history import StepRecord, history
from skillopt.train.pages.agents import worked
from skillopt.train.pages.changes import accepted_changes, flips, untaken_edits, whole_change
from skillopt.train.pages.chart import WORDS, Point, curve_of, drawn, legend, mark, shape_of, shapes, whisker
from skillopt.train.pages.epochs import epochs
from skillopt.train.pages.frontier import frontier
from skillopt.train.pages.headline import headline, lede
from skillopt.train.pages.judge import judged
from skillopt.train.pages.markup import Content, Html, element, folded, shortened, table, together
from skillopt.train.summary import ScoreRow, SplitScores, Summary, UsageRow

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_SCORE_HEADINGS = ("Skill", "Hard score", "95 % interval", "Tasks", "0 to 1")
_STEP_HEADINGS = ("Step", "Verdict", "Rollouts", "Candidate", "Incumbent after", "Best so far", "Edits", "Why")
_USAGE_HEADINGS = ("Calls", "Tokens in", "of them cached", "Tokens out", "Dollars")
_MOST_OPEN_STEPS = 60
_MOST_ROWS = 100
_LONGEST_CELL = 200


def page(view: RunView, summary: Summary) -> str:
    """Return the whole report."""
    title = headline(view, summary)
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"skillopt report: {summary.run}"),
        element("style", Html(_style())),
    )
    sections = {name: together(children) for name, children in _sections(view, summary)}
    opening = element(
        "header",
        element("p", _eyebrow(view, summary), class_="eyebrow"),
        element("h1", title),
        element("p", lede(view, summary), class_="lede"),
        element("nav", *(element("a", name, href=f"#{_anchor(name)}") for name in sections), aria_label="Sections"),
    )
    parts = (_section(name, children) for name, children in sections.items())
    body = element("body", shapes(), element("main", opening, *parts), _footer(summary))
    return f"<!doctype html>\n{element('html', head, body, lang='en').markup}\n"


def _sections(view: RunView, summary: Summary) -> Iterator[tuple[str, Iterable[Html]]]:
    baseline = view.score("baseline", "val")
    best = view.score("baseline" if summary.best_origin == "initial_skill" else summary.best_origin, "val")
    yield "Scores", _scores(summary)
    yield "Learning curve", _curve(view)
    yield "What changed", (whole_change(view, "" if view.best_digest is None else view.best_digest),)
    yield "Steps", (_steps(view),)
    if any(epoch.ended is not None for epoch in view.epochs):
        yield "Epochs", epochs(view)
    if view.search.stood:
        yield "Frontier", frontier(view.search)
    yield "Accepted changes", (accepted_changes(view),)
    yield "Flipped tasks", (flips(baseline, best),)
    yield "Edits not taken", (untaken_edits(view),)
    if view.conduct is not None:
        yield "Agents", worked(view.conduct)
    if view.judged is not None:
        yield "Judge", judged(view.judged, view.compared)
    yield "Cost", _costs(view, summary)
    yield "Failures", _failures(view, summary)
    if view.warnings:
        yield "Warnings", _warnings(view.warnings)
    yield "Plan", (_plan(view, summary),)


def _section(name: str, children: Html) -> Html:
    anchor = _anchor(name)
    return element("section", element("h2", name, id=anchor), element("div", children), aria_labelledby=anchor)


def _anchor(name: str) -> str:
    return name.lower().replace(" ", "-")


@cache
def _style() -> str:
    data = pkgutil.get_data("skillopt.train", "page.css")
    if data is None:
        raise InternalError("page.css is missing from this installation of skillopt.")
    return data.decode()


def _eyebrow(view: RunView, summary: Summary) -> Html:
    models = "" if view.began is None else f" · target {view.began.models.get('target', 'unknown')}"
    return together([element("b", "skillopt"), f" · run {summary.run}{models} · {summary.status}"])


def _footer(summary: Summary) -> Html:
    told = (
        "Intervals are at 95 %. The gate compared candidates on val only; test was measured after the last decision. "
        f"Made by skillopt {summary.version} from the run’s journal; the same journal gives the same page."
    )
    return element("footer", element("p", told))


def _scores(summary: Summary) -> Iterator[Html]:
    sides = [("Seed", summary.scores.baseline), *_trained(summary)]
    test = [_score_row(name, split.test) for name, split in sides]
    val = [_score_row(name, split.val) for name, split in sides]
    yield table("Test: these tasks decided nothing", _SCORE_HEADINGS, test, kind="scores")
    decided = (
        "these tasks chose the winner" if summary.claimed_val is None else "measured again after the gate had decided"
    )
    yield table(f"Val: {decided}", _SCORE_HEADINGS, val, kind="scores")
    for split, types in sorted(summary.by_type.items()):
        rows = [_score_row(name, row) for name, row in list(types.items())[:_MOST_ROWS]]
        caption = f"The best skill on {split}, by type of task"
        shown = table(caption, ("Type", *_SCORE_HEADINGS[1:]), rows, kind="scores")
        yield folded(f"By type of task, on {split}", shown, *_more(len(types), "types"))


def _trained(summary: Summary) -> list[tuple[str, SplitScores]]:
    """The best and the last skill by name; they share a row where they are the same."""
    scores, best, last = summary.scores, summary.best_origin, summary.current_origin
    named = "the seed" if best == "initial_skill" else _named(best, summary.best_step)
    if best == last:
        return [(f"Best and last ({named})", scores.best)]
    return [(f"Best ({named})", scores.best), (f"Last ({last.replace('_', ' ')})", scores.last)]


def _named(origin: str, step: int) -> str:
    return f"step {step}" if origin.startswith("step_") else f"{origin.replace('_', ' ')}, after step {step}"


def _score_row(name: str, row: ScoreRow | None) -> tuple[Content, ...]:
    if row is None or row.hard is None:
        return name, element("i", "not measured"), "", "" if row is None else f"{row.n:,}", ""
    interval = "" if row.low is None or row.high is None else f"{row.low:.2f} – {row.high:.2f}"
    return name, element("b", f"{row.hard:.3f}"), interval, f"{row.n:,}", whisker(row.hard, row.low, row.high)


def _curve(view: RunView) -> Iterator[Html]:
    curve = curve_of(view)
    if not any(level.value is not None for level in curve.levels):
        yield element("p", "Nothing was measured on val yet.")
        return
    note = (
        f"The {curve.metric} score on val by step. Bars and the shaded band are 95 % intervals. "
        "The table of steps below holds the same numbers."
    )
    yield element("figure", legend(), drawn(curve), element("figcaption", note))


def _steps(view: RunView) -> Html:
    records = history(view)
    if not records:
        return element("p", "No step was finished.")
    metric = records[0].gate_metric
    caption = f"All {len(records):,} steps; rollouts by hard score, the rest by the gate’s metric, {metric}"
    rows = (_step_row(record, point) for record, point in zip(records, curve_of(view).points, strict=True))
    shown = table(caption, _STEP_HEADINGS, rows, kind="steps")
    return shown if len(records) <= _MOST_OPEN_STEPS else folded(caption, shown)


def _step_row(record: StepRecord, point: Point) -> tuple[Content, ...]:
    kind = shape_of(record.action)
    failed = f", {record.rollout_failed} failed" if record.rollout_failed else ""
    is_best = record.action.endswith("new_best")
    return (
        str(record.step),
        together([mark(kind), f" {WORDS[kind]}"]),
        _with(record.rollout_hard, f"n={record.rollout_n}{failed}"),
        "—" if kind == "skip" else _with(record.candidate_gate_score, f"{_interval(point)}n={record.selection_n}"),
        _number(record.current_score),
        element("b", _number(record.best_score), element("small", " new")) if is_best else _number(record.best_score),
        str(sum(count for status, count in record.edit_apply_summary.items() if status == "applied")),
        shortened(record.reason, _LONGEST_CELL),
    )


def _with(value: float | None, remark: str) -> Html:
    return together([_number(value), element("small", f" {remark}")])


def _interval(point: Point) -> str:
    return "" if point.low is None or point.high is None else f"[{point.low:.2f}, {point.high:.2f}] "


def _costs(view: RunView, summary: Summary) -> Iterator[Html]:
    usage = summary.usage
    roles = (("target", usage.target), ("optimizer", usage.optimizer), ("judge", usage.judge), ("all", usage.total))
    stages = sorted(view.stages.items(), key=lambda stage: -stage[1].tokens)
    by_role = [_usage_row(name, row) for name, row in roles]
    by_stage = [_usage_row(name, UsageRow.of(used)) for name, used in stages]
    yield table("By role", ("Role", *_USAGE_HEADINGS), by_role, kind="numbers totals")
    yield table("By stage", ("Stage", *_USAGE_HEADINGS), by_stage, kind="numbers")
    if usage.total.calls and not usage.total.usd:
        yield element("p", "No dollars: these models are free, or their price is not known.", class_="note")


def _usage_row(name: str, row: UsageRow) -> tuple[Content, ...]:
    money = f"{row.usd:,.4f}" if row.usd else "—"
    return name, f"{row.calls:,}", f"{row.input_tokens:,}", f"{row.cached_tokens:,}", f"{row.output_tokens:,}", money


def _failures(view: RunView, summary: Summary) -> Iterator[Html]:
    causes = sorted(view.failures.items(), key=lambda item: (-item[1], item[0]))
    if causes:
        lost = [(shortened(cause, _LONGEST_CELL), f"{count:,}") for cause, count in causes[:_MOST_ROWS]]
        caption = "Work without an answer, by cause; none of it counts as a wrong answer"
        yield table(caption, ("Cause", "Units"), lost, kind="numbers")
        yield from _more(len(causes), "causes")
    else:
        yield element("p", "Every unit of work was answered.")
    over = summary.usage.overhead
    rows = [
        ("sent in all", f"{over.attempts:,}", "—"),
        ("failed, then tried again or given up", f"{over.failed:,}", f"{over.failed_tokens:,}"),
        ("lost in a kill", f"{over.lost:,}", f"{over.lost_tokens:,}"),
        ("sent early and not used", f"{over.speculative:,}", f"{over.speculative_tokens:,}"),
        ("not sent: the journal had the answer", f"{over.replayed:,}", "—"),
    ]
    caption = "Overhead: requests beyond the answers that were used"
    yield table(caption, ("Requests", "Count", "Tokens"), rows, kind="numbers")


def _warnings(warnings: tuple[str, ...]) -> Iterator[Html]:
    yield element("ul", *(element("li", shortened(warning, 2 * _LONGEST_CELL)) for warning in warnings[:_MOST_ROWS]))
    yield from _more(len(warnings), "warnings")


def _more(count: int, what: str) -> Iterator[Html]:
    if count > _MOST_ROWS:
        yield element("p", f"{count - _MOST_ROWS:,} more {what} are left out here.", class_="note")


def _plan(view: RunView, summary: Summary) -> Html:
    began = view.began
    if began is None:
        return element("p", "The run had not begun.")
    rows = [
        *((f"Model: {role}", model) for role, model in began.models.items()),
        ("Tasks", ", ".join(f"{size:,} {split}" for split, size in began.sizes.items())),
        ("Steps", f"{began.epochs} epochs of {began.steps_per_epoch}, {began.total_steps:,} in all"),
        ("Gate", f"rule {began.gate_rule}, metric {began.gate_metric}"),
        ("Ended", f"{summary.status}{f': {summary.stop_reason}' if summary.stop_reason else ''}"),
        ("Time", f"{summary.wall_seconds:,.1f} s"),
        ("Seed skill", began.skill_digest[:16]),
        ("Plan", began.config_digest),
    ]
    return table("What was settled before the run", ("Setting", "Value"), rows, kind="plan")


def _number(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.3f}"
