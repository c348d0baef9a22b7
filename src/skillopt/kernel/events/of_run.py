"""What is said of a run as a whole: its beginning and end, its phases, its skills and what was measured.
Owns these events; refuses to know steps."""

from __future__ import annotations

from skillopt.domain.agency.conduct import Conduct
from skillopt.domain.judging import Agreement
from skillopt.domain.usage import Usage
from skillopt.kernel.events.facts import Fact, Mean, TaskScore, WorkFact


class RunBegan(Fact, frozen=True, kw_only=True, tag="run_began"):
    """A run started from a seed skill with a plan; `gate_smallest_p` is the most certain that its gate can ever be."""

    run: str
    config_digest: str
    version: str
    epochs: int
    steps_per_epoch: int
    total_steps: int
    sizes: dict[str, int]
    models: dict[str, str]
    gate_rule: str
    gate_metric: str
    gate_smallest_p: float | None = None
    skill_digest: str


class SkillKept(Fact, frozen=True, kw_only=True, tag="skill_kept"):
    """The text of a skill document, said once for each digest before anything names it."""

    digest: str
    name: str | None
    files: dict[str, str]


class PhaseBegan(Fact, frozen=True, kw_only=True, tag="phase_began"):
    """A phase is about to ask for this many units."""

    path: str
    verb: str
    units: int


class PhaseEnded(Fact, frozen=True, kw_only=True, tag="phase_ended"):
    """A phase has all its outcomes; `usage` counts each answer once in a run, at its first use."""

    path: str
    verb: str
    role: str
    answered: int
    failed: int
    causes: dict[str, int]
    usage: Usage


class Measured(Fact, frozen=True, kw_only=True, tag="measured"):
    """A skill was scored on a split: `label` is baseline, best, last or a candidate's name."""

    label: str
    split: str
    skill_digest: str
    mean: Mean
    by_type: dict[str, Mean]
    rows: tuple[TaskScore, ...]


class AnswersJudged(Fact, frozen=True, kw_only=True, tag="answers_judged"):
    """A judge marked answers of this phase; `agreement` says how often readings of the same answer differ."""

    path: str
    agreement: Agreement


class AgentsWorked(Fact, frozen=True, kw_only=True, tag="agents_worked"):
    """Agents did the errands of this phase: how they went about them; of train tasks also each by itself.

    `tasks` are those of the phase's units, in order; the journal has what became of each.
    """

    path: str
    conduct: Conduct
    tasks: tuple[str, ...] = ()
    works: tuple[WorkFact, ...] = ()


class Warned(Fact, frozen=True, kw_only=True, tag="warned"):
    """Something the person should know that does not stop the run."""

    message: str


class RunEnded(Fact, frozen=True, kw_only=True, tag="run_ended"):
    """The run reached its own end; a stop by a cap, a person or a failure is no event, since running again goes on."""

    stop_reason: str
    best_digest: str
    last_digest: str
    best_origin: str
    best_step: int
    current_origin: str
    claimed_val: float | None
