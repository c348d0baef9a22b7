from __future__ import annotations

from skillopt.domain.progress.standing import Standing
from skillopt.domain.scores import Metric, MetricName, Score, Scoreboard, Scored
from skillopt.domain.skill import Skill


def test_the_mark_of_a_task_is_the_mean_of_its_measured_trials() -> None:
    rows = (
        Scored(task_id="a", trial=0, score=Score(hard=1, soft=1)),
        Scored(task_id="a", trial=1, score=Score(hard=0, soft=0.5)),
        Scored(task_id="a", trial=2, cause="down"),
        Scored(task_id="b", trial=0, cause="down"),
    )
    standing = Standing(skill=Skill.from_text("# Rules\n"), board=Scoreboard(rows), origin="initial_skill")
    assert standing.marks(Metric()) == {"a": 0.5}, "a task that failed has no mark, not even 0"
    assert standing.marks(Metric(name=MetricName.SOFT)) == {"a": 0.75}
