"""The first sentences of a report: what the run did, and how sure that is.
Owns the wording, which claims only what test or val can carry; refuses to know how it is set."""

from __future__ import annotations

from skillopt.kernel.view import RunView
from skillopt.train.pages.changes import paired
from skillopt.train.summary import ScoreRow, Summary


def headline(view: RunView, summary: Summary) -> str:
    """Return the run in one sentence."""
    scores = summary.scores
    if scores.baseline.val is None:
        return "Nothing was measured, so there is nothing to say about the skill yet."
    if summary.steps == 0:
        return "The seed skill was measured, and no training step was finished."
    if summary.best_step == 0:
        return f"After {_counted(summary.steps, 'step')} the seed skill is still the best: no change beat it on val."
    how = "changed the skill with no gate to pass" if _is_forced(view) else "passed the gate"
    kept = f"{summary.accepts:,} of {_counted(summary.steps, 'step')} {how}"
    seed, best = scores.baseline.test, scores.best.test
    if seed is None or best is None or seed.hard is None or best.hard is None:
        return f"{kept}; how the skill does on tasks that chose nothing was not measured."
    if best.hard == seed.hard:
        return f"{kept}, and the test score is where it was: {best.hard:.3f}."
    return f"{kept}, and the test score {'rose' if best.hard > seed.hard else 'fell'} {_from_to(seed, best)}."


def lede(view: RunView, summary: Summary) -> str:
    """Return what stands behind the headline: who decided, who did not, and how sure it is."""
    parts = []
    if summary.status != "finished" or summary.stop_reason == "stop":
        planned = "" if view.began is None else f" of {view.began.total_steps}"
        why = f" ({summary.stop_reason})" if summary.stop_reason not in {"", "stop"} else ""
        how = "was ended by hand" if summary.stop_reason == "stop" else summary.status
        parts.append(f"The run {how} after step {summary.steps}{planned}{why}; this is how far it came.")
    if _is_forced(view):
        parts.append("Every change that was measured was kept, as configured (gate rule force).")
    if summary.scores.best.val is not None and summary.best_step:
        value = _score(summary.scores.best.val)
        parts.append(
            f"The val tasks chose the winner, so its val score, {value}, tends to flatter it."
            if summary.claimed_val is None
            else f"On val it scores {value}, in trials made after it was accepted, which decided nothing."
        )
    parts += _test_words(view, summary)
    return " ".join(parts)


def _is_forced(view: RunView) -> bool:
    return view.began is not None and view.began.gate_rule == "force"


def _test_words(view: RunView, summary: Summary) -> list[str]:
    seed, best = view.score("baseline", "test"), view.score("best", "test")
    sides = summary.scores.baseline.test, summary.scores.best.test
    if seed is None or best is None or sides[0] is None or sides[1] is None:
        without = view.began is not None and not view.began.sizes.get("test")
        return ["There are no test tasks, so nothing here says how the skill does on new ones."] if without else []
    if summary.best_step == 0:
        return [f"On test, which decided nothing, it scores {_score(sides[1])}."]
    pairs = paired(seed, best)
    better = sum(1 for old, new in pairs if old.hard is not None and new.hard is not None and new.hard > old.hard)
    worse = sum(1 for old, new in pairs if old.hard is not None and new.hard is not None and new.hard < old.hard)
    counted = (
        f"The test tasks decided nothing: of {len(pairs)} measured with both skills, "
        f"{better} came out better and {worse} worse."
    )
    return [counted, *_overlap(*sides)]


def _overlap(seed: ScoreRow | None, best: ScoreRow | None) -> list[str]:
    """Warn where the two intervals overlap; apart from each other they speak for themselves."""
    if seed is None or best is None or seed.low is None or seed.high is None or best.low is None or best.high is None:
        return []
    if seed.high < best.low or best.high < seed.low:
        return []
    return ["The two intervals overlap, so more test tasks are needed before this difference is certain."]


def _from_to(seed: ScoreRow, best: ScoreRow) -> str:
    return f"from {seed.hard:.3f} to {best.hard:.3f} on {best.n} tasks that decided nothing"


def _score(row: ScoreRow) -> str:
    if row.hard is None:
        return "not measured"
    interval = "" if row.low is None or row.high is None else f" [{row.low:.2f}, {row.high:.2f}]"
    return f"{row.hard:.3f}{interval} n={row.n}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
