from __future__ import annotations

import pytest

from skillopt.domain import errors
from skillopt.domain.errors import AuthError, BudgetReachedError, SkilloptError, UsageError, unknown_name

EXIT_CODES = {
    "UsageError": 2,
    "ProviderError": 3,
    "AuthError": 3,
    "RateLimitedError": 3,
    "ContextTooLongError": 3,
    "RefusedError": 3,
    "TruncatedError": 3,
    "UnavailableError": 3,
    "EmptyReplyError": 3,
    "QuotaExhaustedError": 7,
    "UnansweredError": 10,
    "OptimizerError": 3,
    "AgentError": 3,
    "NotInstalledError": 3,
    "NotLoggedInError": 3,
    "CrashedError": 3,
    "AgentTimeoutError": 3,
    "TaskError": 2,
    "BudgetReachedError": 4,
    "AdoptionRefusedError": 5,
    "StoreError": 6,
    "InterruptedRunError": 130,
    "StoppedRunError": 0,
    "InternalError": 70,
    "SkilloptError": 70,
}
RETRYABLE = {"RateLimitedError", "UnavailableError", "EmptyReplyError"}


def every_error() -> dict[str, type[SkilloptError]]:
    return {
        name: value
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, SkilloptError)
    }


def test_every_error_has_its_exit_code() -> None:
    assert {name: error.exit_code for name, error in every_error().items()} == EXIT_CODES


def test_only_what_passes_by_itself_is_retryable() -> None:
    assert {name for name, error in every_error().items() if getattr(error, "retryable", False)} == RETRYABLE


def test_every_error_is_drawn_in_the_tree() -> None:
    assert errors.__doc__ is not None
    assert not [name for name in every_error() if name not in errors.__doc__]


def test_an_error_says_what_happened_and_what_to_do() -> None:
    assert str(UsageError("It broke.", hint="Mend it.")) == "It broke. Mend it."
    assert str(UsageError("It broke.")) == "It broke."


def test_scrubbing_reaches_everything_an_error_says() -> None:
    error = AuthError("key abc is wrong", hint="replace abc", status=401)
    error.scrub(lambda text: text.replace("abc", "…"))
    assert str(error) == "key … is wrong replace …"
    assert "abc" not in repr(error)
    assert error.status == 401


@pytest.mark.parametrize(
    ("name", "meant"), [("pached", "patch"), ("Patch", "patch"), ("rewrit", "rewrite"), ("zzzz", None), ("", None)]
)
def test_an_unknown_name_lists_the_valid_ones_and_the_nearest(name: str, meant: str | None) -> None:
    error = unknown_name("mode", name, ["rewrite", "patch"])
    assert isinstance(error, UsageError)
    assert error.message == f"Unknown mode {name!r}."
    assert error.hint is not None
    assert "Valid: patch, rewrite." in error.hint
    assert ("Did you mean" in error.hint) is (meant is not None)
    if meant is not None:
        assert f"Did you mean {meant!r}?" in error.hint


def test_a_budget_names_its_cap() -> None:
    assert BudgetReachedError("x", cap="calls").cap == "calls"
