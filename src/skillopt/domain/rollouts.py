"""What became of one trial of one task: answered or failed, never a score.
Owns the two values and the causes of failure; refuses to know how either came about."""

from __future__ import annotations

import msgspec

from skillopt.domain.agency.transcripts import Transcript


class Failure(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag="failure"):
    """Why a unit of work has no answer, and who must act; never shown to an optimizer as a mistake of the skill.

    `passing` says that the same request might be answered another time: an outage, not a refusal.
    """

    kind: str
    who: str
    message: str
    passing: bool = False


class Turn(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What an environment told the target after an answer, and what the target said then."""

    feedback: str
    text: str


class Answered(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag="answered"):
    """The target answered this trial; `finish` is how the model ended.

    `turns` came after the answer, in training only: they show how it could be mended, and are not graded. `transcript`
    is what an agent did on the way to its answer.
    """

    task_id: str
    trial: int
    text: str
    finish: str = "stop"
    turns: tuple[Turn, ...] = ()
    transcript: Transcript | None = None

    @property
    def replies(self) -> tuple[str, ...]:
        """Everything the target said, the graded answer first."""
        return (self.text, *(turn.text for turn in self.turns))


class Failed(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag="failed"):
    """This trial has no answer."""

    task_id: str
    trial: int
    failure: Failure


Rollout = Answered | Failed
