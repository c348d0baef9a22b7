from __future__ import annotations

from skillopt.domain.agency.conduct import Conduct, conduct_of
from skillopt.domain.agency.transcripts import Transcript


def test_runs_add_up_and_one_that_does_not_tell_counts_for_neither_side() -> None:
    runs = [
        Transcript(program="codex 1", skill_opened="yes", calls=(("shell", 2), ("patch", 1))),
        Transcript(program="codex 1", skill_opened="no", denied=("shell",), attempts=2),
        Transcript(program="codex 1", skill_opened="failed"),
        Transcript(program="codex 1"),
    ]
    whole = Conduct(runs=4, opened=1, unopened=2, tool_calls=3, denied=1, repeated=1)
    assert conduct_of(runs) == whole == conduct_of(runs[:1]) + conduct_of(runs[1:])
    assert conduct_of(()) == Conduct()
