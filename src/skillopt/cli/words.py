"""Scores and summaries in a person's words: every number with its n and interval.
Owns the wording; refuses to know where it is printed."""

from __future__ import annotations

from skillopt.train.summary import ScoreRow, Summary


def score_words(row: ScoreRow | None) -> str:
    """Return a score as `0.85 [0.71, 0.93] n=40`, or that it was not measured."""
    if row is None or row.hard is None:
        return "not measured"
    interval = "" if row.low is None or row.high is None else f" [{row.low:.2f}, {row.high:.2f}]"
    return f"{row.hard:.3f}{interval} n={row.n}"


def summary_lines(summary: Summary) -> list[str]:
    """Return what a person wants to know when a run ends."""
    scores, usage = summary.scores, summary.usage.total
    lines = [
        f"run {summary.run}: {summary.status}" + (f" ({summary.stop_reason})" if summary.stop_reason else ""),
        f"steps {summary.steps}: {summary.accepts} accepted, {summary.rejects} rejected, "
        f"{summary.inconclusive} inconclusive, {summary.skips} skipped",
    ]
    if scores.baseline.test is not None or scores.best.test is not None:
        lines += [
            f"test, which decided nothing: seed {score_words(scores.baseline.test)}",
            f"                             best {score_words(scores.best.test)}",
        ]
    lines += [
        f"val, which chose the winner:  seed {score_words(scores.baseline.val)}",
        f"                              best {score_words(scores.best.val)} (step {summary.best_step})",
        f"cost: {usage.calls} calls, {usage.input_tokens:,} tokens in, {usage.output_tokens:,} out, ${usage.usd:.4f}",
        f"skill:  {summary.best_skill}",
        f"report: {summary.run_dir}/report.html",
    ]
    return lines
