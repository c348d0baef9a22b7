"""The environment door: references, overrides and what is no setting."""

from __future__ import annotations

import pytest

from skillopt.app.environ import is_reference, overrides, resolve_reference, variables
from skillopt.domain.errors import UsageError


def test_a_reference_is_resolved_when_asked() -> None:
    environ = {"MY_KEY": "first"}
    assert resolve_reference("${MY_KEY}", environ) == "first"
    environ["MY_KEY"] = "second"
    assert resolve_reference("${MY_KEY}", environ) == "second"


@pytest.mark.parametrize("environ", [{}, {"MY_KEY": ""}, {"MY_KEY": "  "}])
def test_a_missing_or_empty_variable_is_named(environ: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="MY_KEY"):
        resolve_reference("${MY_KEY}", environ)


@pytest.mark.parametrize(
    "text", ["sk-very-secret", "$MY_KEY", "${}", "${1A}", "Bearer ${MY_KEY}", "${A}${B}", "${A}\n"]
)
def test_what_is_no_reference_is_refused_without_being_repeated(text: str) -> None:
    assert not is_reference(text)
    with pytest.raises(UsageError) as caught:
        resolve_reference(text, {"A": "a", "MY_KEY": "k"})
    assert text not in str(caught.value)


def test_overrides_are_sorted_and_lower_case_and_leave_other_variables_alone() -> None:
    environ = {
        "SKILLOPT_TRAIN__BATCH_SIZE": "20",
        "SKILLOPT_TRAIN": "{epochs: 2}",
        "SKILLOPT_DEBUG": "1",
        "PATH": "/bin",
        "skillopt_train__seed": "3",
    }
    assert overrides(environ) == (
        ("SKILLOPT_TRAIN", ("train",), "{epochs: 2}"),
        ("SKILLOPT_TRAIN__BATCH_SIZE", ("train", "batch_size"), "20"),
    )


def test_the_snapshot_does_not_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLOPT_TEST_ONLY", "before")
    seen = variables()
    monkeypatch.setenv("SKILLOPT_TEST_ONLY", "after")
    assert seen["SKILLOPT_TEST_ONLY"] == "before"
