"""The boundary: foreign exceptions are attributed, our own pass, cancellation passes."""

from __future__ import annotations

import asyncio

import pytest

from skillopt.domain.errors import ProviderError, TaskError, UsageError
from skillopt.kernel.boundary import Attributed


def test_a_foreign_exception_becomes_an_error_of_the_seam_that_names_the_thing() -> None:
    with (
        pytest.raises(TaskError, match=r"Grading task 't1' broke with KeyError") as caught,
        Attributed(TaskError, "Grading task 't1'"),
    ):
        raise KeyError("missing")
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("error", [UsageError("mine"), asyncio.CancelledError(), KeyboardInterrupt()])
def test_what_is_ours_or_no_mistake_passes(error: BaseException) -> None:
    with pytest.raises(type(error)) as caught, Attributed(ProviderError, "the backend"):
        raise error
    assert caught.value is error


def test_nothing_happens_when_nothing_escapes() -> None:
    with Attributed(ProviderError, "the backend"):
        pass
