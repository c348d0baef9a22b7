"""How a judge is shown what it is to look at: between tags that nothing inside can close.
Owns the framing; refuses to know what is asked about it."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import msgspec

from skillopt.domain.tasks import Task

Exhibit = tuple[str, str]
_encoder = msgspec.msgpack.Encoder()


def shown(exhibits: Sequence[Exhibit], reading: int) -> str:
    """Return named texts between tags of their own.

    The tags end in letters that are drawn from all that they hold and from the reading: an author cannot foresee them,
    so no text ends its own frame; and a second reading is the same question in another wrapping, not a copy.
    """
    mark = blake2b(_encoder.encode((exhibits, reading)), digest_size=5).hexdigest()
    return "\n\n".join(f"<{name}-{mark}>\n{text}\n</{name}-{mark}>" for name, text in exhibits)


def exhibits_of(task: Task, rubric: str, references: Sequence[str]) -> list[Exhibit]:
    """Return what every judge of this task is shown besides answers."""
    asked = (
        task.input if isinstance(task.input, str) else "\n".join(f"{turn.role}: {turn.content}" for turn in task.input)
    )
    context = "" if task.context is None else f"{task.context}\n\n"
    asked = task.noting_images(context + asked)
    return [("task", asked), ("rubric", rubric), *(("right-answer", reference) for reference in references)]
