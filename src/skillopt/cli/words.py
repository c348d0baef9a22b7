"""Scores and summaries in a person's words: every number with its n and interval.
Owns the wording; refuses to know where it is printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skillopt.train.comparison import Compared
from skillopt.train.summary import ScoreRow, Summary

_MINUTE = 60


def score_words(row: ScoreRow | None) -> str:
    """Return a score as `0.85 [0.71, 0.93] n=40`, or that it was not measured."""
    if row is None or row.hard is None:
        return "not measured"
    interval = "" if row.low is None or row.high is None else f" [{row.low:.2f}, {row.high:.2f}]"
    return f"{row.hard:.3f}{interval} n={row.n}"


def lasting(seconds: float) -> str:
    """Return a time as a person says it: two units at most, the smaller one whole."""
    if seconds < _MINUTE:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), _MINUTE)
    if minutes < _MINUTE:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, _MINUTE)
    return f"{hours} h {minutes} min"


def summary_lines(summary: Summary) -> list[str]:
    """Return what a person wants to know when a run ends."""
    scores, usage = summary.scores, summary.usage.total
    lines = [
        f"run {summary.run}: {summary.status}" + (f" ({summary.stop_reason})" if summary.stop_reason else ""),
        f"steps {summary.steps}: {summary.accepts} accepted, {summary.rejects} rejected, "
        f"{summary.inconclusive} inconclusive, {summary.skips} skipped",
    ]
    if (summary.status, summary.stop_reason) == ("finished", "stop"):
        lines.append(f"To go on, remove {summary.run_dir}/stop and run the same command again.")
    if scores.baseline.test is not None or scores.best.test is not None:
        lines += [
            f"test, which decided nothing: seed {score_words(scores.baseline.test)}",
            f"                             best {score_words(scores.best.test)}",
        ]
    val = "val, which chose the winner: " if summary.claimed_val is None else "val, in trials of its own:   "
    lines += [
        f"{val} seed {score_words(scores.baseline.val)}",
        f"                              best {score_words(scores.best.val)} (step {summary.best_step})",
        f"cost: {usage.calls} calls, {usage.input_tokens:,} tokens in, {usage.output_tokens:,} out, ${usage.usd:.4f}",
        f"skill:  {summary.best_skill}",
        f"report: {summary.run_dir}/report.html",
    ]
    return lines


def comparison_lines(runs: Sequence[Compared]) -> Iterator[str]:
    """Yield what is said of runs side by side."""
    for run in runs:
        why = f" ({run.stop_reason})" if run.stop_reason else ""
        yield f"run {run.run}: {run.status}{why}, {run.steps} steps, {run.accepts} accepted"
        yield f"  test: seed {score_words(run.seed_test)}"
        yield f"        best {score_words(run.best_test)}"
        said = "which chose it" if run.chosen_by_val else "in trials of its own"
        yield f"  val:  best {score_words(run.best_val)}, {said}"
        yield f"  cost: {run.calls} calls, ${run.usd:.4f}"
        yield from (f"  {edit.op}: {edit.content or edit.target}" for edit in run.edits)
    for run in runs[1:]:
        yield f"{run.run} against {runs[0].run}: {_against(run, len(runs) - 1)}"


def _against(run: Compared, comparisons: int) -> str:
    if run.against is None:
        return f"cannot be paired, {run.why_not}."
    pair = run.against
    verdict = "more than noise" if run.beyond_noise else "no more than noise explains"
    many = f", {comparisons} comparisons counted" if comparisons > 1 else ""
    return (
        f"{pair.difference:+.3f} on the same {pair.n} test tasks, {pair.better} better and {pair.worse} worse "
        f"(p = {pair.p:.3g}): {verdict}{many}."
    )
