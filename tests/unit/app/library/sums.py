"""A small world for the library's tests: an agent that adds once its skill tells it to, and who tells it so."""

from __future__ import annotations

import json

from skillopt.domain.tasks import Task

LESSON = "Add the two numbers."
SEED = "# Sums\n"


def sums(count: int = 30) -> list[Task]:
    """Return tasks whose answers are known."""
    return [Task(id=f"sum-{n}", input=f"{n}+{n + 1}", reference=str(2 * n + 1)) for n in range(count)]


def attempt(skill: str, task: Task) -> str:
    """Add if the skill says so."""
    assert isinstance(task.input, str)
    left, right = task.input.split("+")
    return str(int(left) + int(right)) if LESSON in skill else "I do not know."


def ask(messages: list[dict[str, str]]) -> str:
    """Propose the lesson, whatever was shown."""
    assert [message["role"] for message in messages] == ["system", "user"]
    edits = [{"op": "append", "content": f"- {LESSON}", "target": ""}]
    return json.dumps({"patch": {"reasoning": "It did not add.", "edits": edits}})
