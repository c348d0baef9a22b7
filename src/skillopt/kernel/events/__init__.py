"""The one stream of facts: what a run did, in program order, the same whenever it is run again.

Owns the event union and the live signals; refuses to know who watches. Times are kept beside events, never in them.
"""

from skillopt.kernel.events.facts import EditFact, GateEvidence, Mean, PatternFact, TaskScore, WorkFact
from skillopt.kernel.events.of_epoch import EpochCompared, EpochEnded, MetaSkillWritten, PairFact, SlowUpdated
from skillopt.kernel.events.of_prune import PassagesTried, PruneDecided
from skillopt.kernel.events.of_run import (
    AgentsWorked,
    AnswersJudged,
    Measured,
    PhaseBegan,
    PhaseEnded,
    RunBegan,
    RunEnded,
    SkillKept,
    Warned,
)
from skillopt.kernel.events.of_search import FrontierMerged, FrontierStood, MemberFact
from skillopt.kernel.events.of_step import (
    BatchGraded,
    BudgetDecided,
    CandidateBisected,
    CandidateMade,
    GateDecided,
    NotesTaken,
    PairsCompared,
    PatchProposed,
    StepBegan,
    StepEnded,
)
from skillopt.kernel.events.signals import AttemptFailed, Signal, SlotsChanged, UnitSettled

Event = (
    RunBegan
    | SkillKept
    | PhaseBegan
    | PhaseEnded
    | AnswersJudged
    | AgentsWorked
    | Measured
    | FrontierStood
    | StepBegan
    | BatchGraded
    | PatchProposed
    | BudgetDecided
    | CandidateMade
    | CandidateBisected
    | PairsCompared
    | NotesTaken
    | GateDecided
    | FrontierMerged
    | StepEnded
    | PassagesTried
    | PruneDecided
    | EpochCompared
    | SlowUpdated
    | MetaSkillWritten
    | EpochEnded
    | Warned
    | RunEnded
)

__all__ = [
    "AgentsWorked",
    "AnswersJudged",
    "AttemptFailed",
    "BatchGraded",
    "BudgetDecided",
    "CandidateBisected",
    "CandidateMade",
    "EditFact",
    "EpochCompared",
    "EpochEnded",
    "Event",
    "FrontierMerged",
    "FrontierStood",
    "GateDecided",
    "GateEvidence",
    "Mean",
    "Measured",
    "MemberFact",
    "MetaSkillWritten",
    "NotesTaken",
    "PairFact",
    "PairsCompared",
    "PassagesTried",
    "PatchProposed",
    "PatternFact",
    "PhaseBegan",
    "PhaseEnded",
    "PruneDecided",
    "RunBegan",
    "RunEnded",
    "Signal",
    "SkillKept",
    "SlotsChanged",
    "SlowUpdated",
    "StepBegan",
    "StepEnded",
    "TaskScore",
    "UnitSettled",
    "Warned",
    "WorkFact",
]
