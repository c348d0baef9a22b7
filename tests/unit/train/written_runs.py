"""Runs written down event by event, so that a report can be asked for any course of things."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skillopt.domain.usage import Usage
from skillopt.kernel.events import (
    BatchGraded,
    CandidateMade,
    EditFact,
    Event,
    GateDecided,
    Mean,
    Measured,
    PatchProposed,
    PhaseEnded,
    RunBegan,
    RunEnded,
    SkillKept,
    StepBegan,
    StepEnded,
    TaskScore,
    Warned,
)
from skillopt.kernel.journal import Spent
from skillopt.kernel.view import RunView, view_of
from skillopt.train.report import Ending, summarize
from skillopt.train.summary import Status, Summary

SEED = "# Style\n\nBe brief.\n"


def mean(hard: float, n: int = 16) -> Mean:
    return Mean(hard=hard, soft=hard, n=n, low=max(0.0, hard - 0.1), high=min(1.0, hard + 0.1))


def rows(right: Sequence[bool], feedback: str = "Not that.") -> tuple[TaskScore, ...]:
    return tuple(
        TaskScore(f"task-{number}", 0, float(good), float(good), "" if good else feedback)
        for number, good in enumerate(right)
    )


def measured(label: str, split: str, hard: float, right: Sequence[bool] = ()) -> Measured:
    return Measured(
        label=label, split=split, skill_digest=label, mean=mean(hard), by_type={"plain": mean(hard)}, rows=rows(right)
    )


def began(rule: str = "strict", metric: str = "hard", test: int = 24, steps: int = 12) -> RunBegan:
    return RunBegan(
        run="r1",
        config_digest="c0ffee",
        version="0.1.0",
        epochs=1,
        steps_per_epoch=steps,
        total_steps=steps,
        sizes={"train": 24, "val": 16, "test": test},
        models={"target": "scripted:rules", "optimizer": "scripted:rules"},
        gate_rule=rule,
        gate_metric=metric,
        skill_digest="seed",
    )


def edit(content: str, status: str = "applied", detail: str = "") -> EditFact:
    return EditFact(
        op="append",
        content=content,
        target="",
        file="SKILL.md",
        support=1,
        source="failure",
        status=status,
        detail=detail,
    )


class Course:
    """Writes the steps of a run one after the other, keeping what is accepted."""

    def __init__(self, rule: str = "strict", metric: str = "hard", test: int = 24) -> None:
        self.events: list[Event] = [
            began(rule, metric, test),
            SkillKept(digest="seed", name="style", files={"SKILL.md": SEED}),
            measured("baseline", "val", 0.25, [False] * 12 + [True] * 4),
        ]
        self._rule, self._metric = rule, metric
        self._digest, self._text, self._score, self._origin = "seed", SEED, 0.25, "initial_skill"
        self._best_step = 0
        self._steps = 0

    def step(self, action: str, said: str = "Say it once.", score: float | None = 0.5) -> Course:
        """Add a step whose candidate appends what is said; `action` is what the gate did."""
        self._steps += 1
        number, changed = self._steps, action != "skip_no_patches"
        digest, text = (f"skill-{number}", f"{self._text}\n{said}\n") if changed else (self._digest, self._text)
        self.events += self._tried(number, said, action, score, (digest, text))
        if action.startswith("accept"):
            self._digest, self._text, self._origin = digest, text, f"step_{number:04d}"
            self._best_step = number
            self._score = self._score if score is None else score
        self.events.append(
            StepEnded(
                step=number,
                epoch=1,
                step_in_epoch=number,
                skill_digest=self._digest,
                best_digest=self._digest,
                current_score=self._score,
                best_score=self._score,
                best_step=self._best_step,
                current_origin=self._origin,
                best_origin=self._origin,
            )
        )
        return self

    def tell(self, *events: Event) -> Course:
        """Add these events as they are."""
        self.events += events
        return self

    def end(self, seed: float = 0.25, best: float = 0.75, right: tuple[int, int] = (4, 12)) -> Course:
        """Measure the seed and the best skill on test, and end the run; `right` counts right answers of 16."""
        for label, hard, count in (("baseline", seed, right[0]), ("best", best, right[1])):
            self.events.append(measured(label, "test", hard, [number < count for number in range(16)]))
        self.events.append(
            RunEnded(
                stop_reason="all steps done",
                best_digest=self._digest,
                last_digest=self._digest,
                best_origin=self._origin,
                best_step=self._best_step,
                current_origin=self._origin,
                claimed_val=None,
            )
        )
        return self

    @property
    def view(self) -> RunView:
        """The fold of what happened so far."""
        return view_of(self.events)

    def _tried(
        self, number: int, said: str, action: str, score: float | None, skill: tuple[str, str]
    ) -> Iterator[Event]:
        digest, text = skill
        changed = action != "skip_no_patches"
        verdict = "reject" if not changed else action.partition("_")[0]
        yield StepBegan(step=number, epoch=1, step_in_epoch=number, edit_budget=2, skill_digest=self._digest)
        yield BatchGraded(step=number, batch=0, seed=1, mean=mean(0.5, 8), rows=rows([True] * 4 + [False] * 4))
        usage = Usage(calls=8, input_tokens=800, output_tokens=80)
        causes = {"rate_limited": 1}
        yield PhaseEnded(
            path=f"{number}/rollout", verb="rollout", role="target", answered=7, failed=1, causes=causes, usage=usage
        )
        patch = (edit(said, "proposed"),)
        yield PatchProposed(
            step=number, stage="reflect", minibatch=0, source="failure", reasoning=f"Because: {said}", edits=patch
        )
        yield SkillKept(digest=digest, name="style", files={"SKILL.md": text})
        yield CandidateMade(step=number, skill_digest=digest, changed=changed, edits=(edit(said),) if changed else ())
        if changed and score is not None:
            yield measured(f"step_{number:04d}", "val", score, [True] * round(16 * score))
        yield GateDecided(
            origin=f"step_{number:04d}",
            rule=self._rule,
            metric=self._metric,
            verdict=verdict,
            action=action,
            reason=f"gate said: {said}",
            candidate=score if changed else None,
            incumbent=self._score,
            best=self._score,
            n=16 if changed else 0,
            failed=0,
            calls=16 if changed else 0,
        )


def summary_of(view: RunView, status: Status = "finished", reason: str = "all steps done") -> Summary:
    ending = Ending(
        run="r1", run_dir=".skillopt/runs/r1", status=status, stop_reason=reason, spent=Spent(), wall_seconds=1.5
    )
    return summarize(view, ending)


def warned(count: int) -> list[Event]:
    return [Warned(message=f"Warning number {number}.") for number in range(count)]
