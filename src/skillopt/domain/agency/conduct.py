"""How agents went about several errands, in sums that add up over a run: did they open the skill, what was denied.
Owns these counts; refuses to know what the answers were worth."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from skillopt.domain.agency.transcripts import Transcript


class Conduct(msgspec.Struct, frozen=True, kw_only=True):
    """Counts over runs of agents. `opened` and `unopened` are the runs in which the skill was and was not read.

    Where a program does not tell, neither counts the run.
    """

    runs: int = 0
    opened: int = 0
    unopened: int = 0
    tool_calls: int = 0
    denied: int = 0
    repeated: int = 0

    def __add__(self, other: Conduct) -> Conduct:
        """Return the counts over both."""
        return Conduct(
            runs=self.runs + other.runs,
            opened=self.opened + other.opened,
            unopened=self.unopened + other.unopened,
            tool_calls=self.tool_calls + other.tool_calls,
            denied=self.denied + other.denied,
            repeated=self.repeated + other.repeated,
        )


def conduct_of(transcripts: Iterable[Transcript]) -> Conduct:
    """Return the counts over these runs."""
    return sum((_of(each) for each in transcripts), Conduct())


def _of(transcript: Transcript) -> Conduct:
    return Conduct(
        runs=1,
        opened=int(transcript.skill_opened == "yes"),
        unopened=int(transcript.skill_opened in {"no", "failed"}),
        tool_calls=sum(count for _, count in transcript.calls),
        denied=len(transcript.denied),
        repeated=transcript.attempts - 1,
    )
