from __future__ import annotations

import pytest

from skillopt.testing.environments.broken import BROKEN_ENVIRONMENTS


@pytest.mark.parametrize("name", sorted(BROKEN_ENVIRONMENTS))
def test_each_broken_environment_puts_and_grades_tasks(name: str) -> None:
    environment = BROKEN_ENVIRONMENTS[name](1)
    task = environment.tasks.val[0]
    assert environment.messages(task, "# Style\n")
    assert environment.grade(task, f"<answer>{task.reference}</answer>").hard == 1.0
