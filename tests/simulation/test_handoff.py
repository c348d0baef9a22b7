"""A whole training whose questions are files: it stops while they wait, goes on when they are answered, and ends as it
would have with a model that answers at once. A question that waits is no call and costs nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec

from skillopt.app.project.prepare import prepare
from skillopt.app.session import Ended, Interrupt, train_session
from skillopt.app.workspace import opened_journal
from skillopt.backends.handoff import Pending
from skillopt.domain.chat import ChatRequest
from skillopt.domain.errors import UnansweredError
from skillopt.kernel.clock import SystemClock
from skillopt.testing.brains import brain_named
from skillopt.testing.conversation import conversation_of
from tests.unit.app.projects import lasting_bytes, settings, write_project

SCRIPTED = {"backend": "scripted", "scenario": "rules"}
MOST_ROUNDS = 30


def never(_interrupt: Interrupt) -> None:
    """Let the run go on to its end."""


def session(config: Path) -> Ended:
    async def whole() -> Ended:
        prepared = prepare(config, environ={})
        clock = SystemClock()
        async with opened_journal(prepared.workspace, clock) as journal:
            return await train_session(prepared, journal, clock, name="run", observers=(), started=never)

    return asyncio.run(whole())


def answer_all(folder: Path, share: int = 1) -> int:
    """Answer every `share`-th question as the scripted model would, and say how many waited."""
    brain = brain_named("rules")
    waiting = msgspec.json.decode((folder / "pending.json").read_bytes(), type=Pending).pending
    for question in waiting[::share]:
        request = ChatRequest(messages=question.messages, max_tokens=question.max_tokens)
        said = brain(conversation_of(request, question.model))
        (folder / question.answer_file).write_text(said.text, encoding="utf-8")
    return len(waiting)


def trained_by_hand(folder: Path, models: dict[str, object], share: int = 1) -> tuple[Ended, int]:
    """Train, answering whatever waits between the sessions; return the end and how many sessions it took."""
    config = write_project(folder, settings(models=models))
    for rounds in range(1, MOST_ROUNDS + 1):
        ended = session(config)
        if ended.error is None:
            return ended, rounds
        assert isinstance(ended.error, UnansweredError), ended.error
        assert ended.error.exit_code == 10
        assert ended.summary.status == "stopped"
        assert answer_all(folder / "handoff", share) > 0
    raise AssertionError(f"not done after {MOST_ROUNDS} sessions")


def test_a_run_by_hand_ends_as_a_run_by_model(tmp_path: Path) -> None:
    by_model, _ = trained_by_hand(tmp_path / "model", {"target": SCRIPTED, "optimizer": SCRIPTED})
    optimizer = {"backend": "handoff", "model": "opt-scripted"}
    by_hand, rounds = trained_by_hand(tmp_path / "hand", {"target": SCRIPTED, "optimizer": optimizer})
    assert rounds > 1
    for name in ("best_skill.md", "history.json"):
        there, here = ((tmp_path / part / ".skillopt/runs/run" / name).read_bytes() for part in ("model", "hand"))
        assert there == here, name
    counted, asked = by_hand.summary.usage, by_model.summary.usage
    assert (counted.target, counted.optimizer, counted.total) == (asked.target, asked.optimizer, asked.total)
    assert (counted.overhead.failed_tokens, counted.overhead.lost) == (0, 0)


def test_answers_may_come_a_few_at_a_time(tmp_path: Path) -> None:
    models: dict[str, object] = {"target": {"backend": "handoff", "model": "target-scripted"}, "optimizer": SCRIPTED}
    _, few = trained_by_hand(tmp_path / "once", models)
    _, many = trained_by_hand(tmp_path / "slow", models, share=2)
    assert many > few > 1
    assert lasting_bytes(tmp_path / "once/.skillopt/runs/run") == lasting_bytes(tmp_path / "slow/.skillopt/runs/run")
