from __future__ import annotations

import pytest

from skillopt.kernel.events import GateDecided, PairsCompared, PhaseBegan
from skillopt.phases.gate import GateSettings
from skillopt.phases.judging.settings import JudgeSettings
from tests.simulation.house import House, house, live
from tests.simulation.judged import judged_house

PAIRWISE = JudgeSettings(mode="pairwise")


@pytest.mark.parametrize(
    "home",
    [
        pytest.param(judged_house(2), id="marks only"),
        pytest.param(
            judged_house(2).but(judge=PAIRWISE, gate=GateSettings(rule="force")), id="a gate that asks nothing"
        ),
        pytest.param(house(14).but(judge=PAIRWISE), id="no task with a rubric"),
    ],
)
def test_nothing_is_compared_where_nobody_asked_for_it(home: House) -> None:
    lived = live(home)
    assert lived.summary.accepts > 0
    assert lived.events_of(PairsCompared) == []
    assert not [began for began in lived.events_of(PhaseBegan) if "compare" in began.path]


def test_only_what_would_be_kept_is_compared_and_only_judged_tasks() -> None:
    home = judged_house(2).but(judge=PAIRWISE)
    lived = live(home)
    compared, decided = lived.events_of(PairsCompared), lived.events_of(GateDecided)
    assert [each.origin for each in compared] == [gate.origin for gate in decided if gate.verdict == "accept"]
    judged = sum(task.rubric is not None for task in home.plan.val)
    for each in compared:
        assert each.new + each.old + each.neither + each.failed == judged
        assert "side by side" in next(gate.reason for gate in decided if gate.origin == each.origin)


def test_the_answers_compared_are_those_that_were_measured() -> None:
    plain, compared = live(judged_house(2)), live(judged_house(2).but(judge=PAIRWISE))
    assert compared.summary.usage.target == plain.summary.usage.target
    assert compared.summary.usage.judge.calls > plain.summary.usage.judge.calls
