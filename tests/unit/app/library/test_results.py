from __future__ import annotations

from skillopt.app.library.results import evaluated
from skillopt.app.session import Examined
from skillopt.kernel.events import Mean, Measured, TaskScore


def test_an_exam_is_a_score_and_its_rows() -> None:
    rows = (TaskScore("a", 0, 1.0, 1.0), TaskScore("b", 0, None, None, "", "RefusedError"))
    mean = Mean(hard=1.0, soft=1.0, n=1, failed=1, low=0.2, high=1.0)
    trial = Measured(label="trial_0", split="test", skill_digest="d", mean=mean, by_type={}, rows=rows)
    result = evaluated(Examined(run="exam", trials=(trial,), usage={}, error=None))
    assert (result.score.hard, result.score.n, result.failed, result.tasks) == (1.0, 1, 1, rows)
