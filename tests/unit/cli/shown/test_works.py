from __future__ import annotations

from skillopt.app.recorded.work import Worked
from skillopt.cli.shown.works import work_lines
from skillopt.domain.rollouts import Failure
from skillopt.domain.usage import Usage


def test_a_run_is_told_with_its_cost_steps_and_answer_and_its_output_only_when_asked() -> None:
    work = Worked(
        task_id="berth",
        phase="val",
        step=None,
        summary="agent: codex 1, exit code 0",
        steps="1. said: so",
        attempts=2,
        requests=3,
        seconds=1.25,
        usage=Usage(calls=1, input_tokens=12_000, output_tokens=5, nano_usd=10_000_000),
        answer="so",
        raw='{"type": "x"}\n',
    )
    lines = list(work_lines(work, raw=False))
    assert lines == [
        "== berth (val)",
        "agent: codex 1, exit code 0",
        "cost: 1.2 s, 12,000 tokens in, 5 out, $0.0100, 3 requests, begun 2 times",
        "steps:",
        "1. said: so",
        "answer:",
        "so",
        "",
    ]
    assert list(work_lines(work, raw=True)) == [*lines[:-1], "output of the program:", '{"type": "x"}', ""]


def test_a_run_without_an_answer_is_told_by_its_cause() -> None:
    failure = Failure(kind="CrashedError", who="agent", message="It broke.")
    work = Worked(task_id="berth", phase="val", step=None, failure=failure)
    assert list(work_lines(work, raw=True)) == ["== berth (val)", "failed: CrashedError: It broke.", ""]


def test_what_was_asked_without_an_agent_is_an_answer_with_its_cost() -> None:
    lines = list(work_lines(Worked(task_id="berth", phase="val", step=1, answer="so"), raw=True))
    assert lines == ["== berth (val)", "cost: 0.0 s", "answer:", "so", ""]
