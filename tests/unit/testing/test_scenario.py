from __future__ import annotations

import pytest

from skillopt.domain.errors import UsageError
from skillopt.testing.faults import TRANSIENT, FaultAt, FaultKind, FaultPlan
from skillopt.testing.scenario import KEYS, Scenario, parse_scenario


@pytest.mark.parametrize(
    ("text", "scenario"),
    [
        ("rules", Scenario(brain="rules")),
        (
            "rules,rate=0.3,seed=7,repeats=3,kinds=rate_limit+cut+garbage",
            Scenario(
                brain="rules",
                faults=FaultPlan(
                    rate=0.3,
                    seed=7,
                    max_repeats=3,
                    kinds=(FaultKind.RATE_LIMIT, FaultKind.CUT, FaultKind.GARBAGE),
                ),
            ),
        ),
        ("echo,rate=0.5", Scenario(brain="echo", faults=FaultPlan(rate=0.5, kinds=TRANSIENT))),
        ("echo,kinds=auth", Scenario(brain="echo", faults=FaultPlan(rate=1.0, kinds=(FaultKind.AUTH,)))),
        (
            "echo,at=3:auth+5:cut",
            Scenario(brain="echo", faults=FaultPlan(at=(FaultAt(3, FaultKind.AUTH), FaultAt(5, FaultKind.CUT)))),
        ),
        (
            "coin,latency=0.05,optimizer_latency=2,together=4,slow=3,retry_after=0",
            Scenario(
                brain="coin",
                latency=0.05,
                optimizer_latency=2.0,
                together=4,
                faults=FaultPlan(slow=3.0, retry_after=0.0),
            ),
        ),
    ],
)
def test_a_scenario_is_read_as_written(text: str, scenario: Scenario) -> None:
    assert parse_scenario(text) == scenario


def test_an_unknown_key_is_an_error_that_lists_the_keys() -> None:
    with pytest.raises(UsageError) as caught:
        parse_scenario("rules,rates=0.3")
    assert "Did you mean 'rate'?" in str(caught.value)
    assert all(key in str(caught.value) for key in KEYS)


@pytest.mark.parametrize(
    "text",
    [
        "rules,rate=2",
        "rules,rate=x",
        "rules,latency=-1",
        "rules,latency=nan",
        "rules,latency=inf",
        "rules,repeats=0",
        "rules,together=0",
        "rules,kinds=",
        "rules,kinds=cut+cuts",
        "rules,at=3",
        "rules,at=0:cut",
        "rules,seed",
        "rules,",
    ],
)
def test_what_does_not_fit_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_scenario(text)


@pytest.mark.parametrize(
    ("text", "target", "optimizer"),
    [
        ("rules", None, None),
        ("rules,latency=1", 1.0, 1.0),
        ("rules,latency=1,optimizer_latency=2", 1.0, 2.0),
        ("rules,optimizer_latency=2", None, 2.0),
    ],
)
def test_latency_goes_by_role(text: str, target: float | None, optimizer: float | None) -> None:
    scenario = parse_scenario(text)
    assert (scenario.latency_of("target"), scenario.latency_of("optimizer")) == (target, optimizer)
    assert scenario.latency_of("judge") == optimizer
