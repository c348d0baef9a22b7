from __future__ import annotations

import pytest

from skillopt.domain.errors import ProviderError, RateLimitedError, UsageError
from skillopt.testing.faults import FAULTS, TRANSIENT, FaultKind, FaultPlan, fault_kind, provider_error

DIGESTS = [f"{number:032x}" for number in range(400)]


def test_an_empty_plan_never_fails() -> None:
    assert {FaultPlan().fault(digest=digest, attempt=1, call=1) for digest in DIGESTS} == {None}


def test_a_rate_fails_about_that_share_with_every_kind() -> None:
    plan = FaultPlan.random(7, 0.3)
    drawn = [plan.fault(digest=digest, attempt=1, call=1) for digest in DIGESTS]
    failed = [kind for kind in drawn if kind is not None]
    assert 90 < len(failed) < 150
    assert set(failed) == set(TRANSIENT)


def test_the_draw_goes_by_request_and_attempt_and_not_by_arrival() -> None:
    plan = FaultPlan.random(7, 0.5)
    forwards = {digest: plan.fault(digest=digest, attempt=1, call=call) for call, digest in enumerate(DIGESTS, 1)}
    backwards = {digest: plan.fault(digest=digest, attempt=1, call=call) for call, digest in enumerate(DIGESTS[::-1])}
    assert forwards == backwards
    assert forwards != {digest: plan.fault(digest=digest, attempt=2, call=1) for digest in DIGESTS}
    assert forwards != {digest: FaultPlan.random(8, 0.5).fault(digest=digest, attempt=1, call=1) for digest in DIGESTS}


def test_a_request_fails_at_most_so_many_times() -> None:
    plan = FaultPlan.always(FaultKind.CUT, max_repeats=2)
    assert [plan.fault(digest="a", attempt=attempt, call=9) for attempt in (1, 2, 3, 4)] == [
        FaultKind.CUT,
        FaultKind.CUT,
        None,
        None,
    ]


def test_without_a_promise_it_fails_for_ever() -> None:
    assert FaultPlan.always(FaultKind.AUTH).fault(digest="a", attempt=10**6, call=1) is FaultKind.AUTH


def test_calls_can_be_told_to_fail_by_number() -> None:
    plan = FaultPlan.at_calls({2: FaultKind.EMPTY, 4: FaultKind.HANG})
    assert [plan.fault(digest="a", attempt=1, call=call) for call in range(1, 6)] == [
        None,
        FaultKind.EMPTY,
        None,
        FaultKind.HANG,
        None,
    ]


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan")])
def test_a_rate_that_is_no_share_is_refused(rate: float) -> None:
    with pytest.raises(UsageError, match="not a share"):
        FaultPlan(rate=rate)


def test_a_plan_without_kinds_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot fail"):
        FaultPlan.random(1, 0.5, ())


def test_an_unknown_kind_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"Did you mean 'rate_limit'\? Valid: auth, context, crash"):
        fault_kind("rate_limits")


def test_every_kind_has_facts_and_every_transient_kind_may_be_tried_again() -> None:
    assert set(FAULTS) == set(FaultKind)
    for kind in TRANSIENT:
        error = FAULTS[kind].error
        assert error is not None
        assert error.retryable


@pytest.mark.parametrize("kind", [kind for kind in FaultKind if kind is not FaultKind.SLOW])
def test_the_error_of_a_fault_has_its_type_and_status(kind: FaultKind) -> None:
    error = provider_error(kind, model="m", retry_after=4.0)
    assert type(error) is FAULTS[kind].error
    assert isinstance(error, ProviderError)
    assert error.status == FAULTS[kind].status
    assert error.retry_after == (4.0 if isinstance(error, RateLimitedError) else None)


def test_a_slow_reply_has_no_error() -> None:
    with pytest.raises(UsageError, match="no error"):
        provider_error(FaultKind.SLOW, model="m")
