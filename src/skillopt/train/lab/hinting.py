"""Says early what the run will ask, so that slots do not stand idle while a phase waits for its last answers.
Owns what is certain and what is guessed, and in which order; refuses to know when it is asked. No result depends on it:
it is a function of plan and state, and only fills the journal sooner."""

from __future__ import annotations

from skillopt.domain.progress.state import Step, TrainState
from skillopt.domain.skill import Candidate, Skill
from skillopt.train.lab.measuring import Measuring
from skillopt.train.lab.parts import Parts
from skillopt.train.plan import Plan


class Hinting:
    """Looks as far as the next step, and to the tests at the end."""

    def __init__(self, parts: Parts, measuring: Measuring) -> None:
        self._run = parts.run
        self._judge = parts.judge
        self._measuring = measuring

    def before_baseline(self, plan: Plan) -> None:
        """Begin what is asked however the run goes: the first step's rollouts, and the test of the seed skill."""
        if plan.surely_steps and plan.search.several:
            self._run.ahead(self._measuring.works(plan.seed_skill, plan.tasks_of(plan.step(1))))
        self._begin_test(plan)

    def before_first_step(self, plan: Plan) -> None:
        """Begin what the end will ask of the seed skill, on val and on test; gates find it there sooner."""
        self._run.ahead(self._measuring.works(plan.seed_skill, plan.val))
        self._begin_test(plan)

    def _begin_test(self, plan: Plan) -> None:
        if plan.tasks.test and "initial" in plan.test:
            self._run.ahead(self._measuring.works(plan.seed_skill, plan.tasks.test))

    def before_reflection(self, plan: Plan, step: Step, skill: Skill) -> None:
        """Guess that the step will change nothing, which is how most of them end."""
        self._next_with(plan, step, skill)

    def before_gate(self, plan: Plan, step: Step, candidate: Candidate) -> None:
        """Guess that the candidate will be accepted; that it will not was guessed before."""
        if candidate.changed:
            self._next_with(plan, step, candidate.skill)

    def before_tests(self, plan: Plan, state: TrainState) -> None:
        """Begin the tests of all skills that are tested, so that none waits for another."""
        chosen = {"best": state.best.skill, "last": state.incumbent.skill}
        for name in plan.test:
            if name in chosen and plan.tasks.test:
                self._run.ahead(self._measuring.works(chosen[name], plan.tasks.test))

    def surely_goes_on(self, plan: Plan, step: Step, state: TrainState) -> bool:
        """Say whether the next step begins with this state, whatever its skill scores: nothing comes between."""
        final = self._judge.mode == "score" and plan.optimizer.skill_aware.accept != "force" and not plan.search.several
        passed = plan.stop.when == "solved" and len(state.passed) == len(plan.tasks.train)
        scored = plan.stop.target is not None or passed
        return final and not scored and not step.closes_epoch and plan.stop_reason(state) is None

    def _next_with(self, plan: Plan, step: Step, skill: Skill) -> None:
        if plan.search.several:
            return  # who is improved next depends on what the gate is still to say
        if step.number < step.total:
            self._run.hint(self._measuring.works(skill, plan.tasks_of(plan.step(step.number + 1))))
        elif "best" in plan.test or "last" in plan.test:
            self._run.hint(self._measuring.works(skill, plan.tasks.test))
