"""Looks for held-out tasks in what an optimizer was sent: an id, an input or a reference of val or test.
Owns the looking; refuses to know where prompts and tasks come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol


class HeldOut(Protocol):
    """A task that no optimizer may see anything of."""

    @property
    def id(self) -> str:
        """Its name."""
        ...

    @property
    def input(self) -> object:
        """What is asked."""
        ...

    @property
    def reference(self) -> object:
        """What would be right."""
        ...


def leaks(prompts: Iterable[str], held_out: Sequence[HeldOut]) -> Iterator[str]:
    """Yield what was found of whom, once for each prompt and task."""
    secrets = [(task.id, (task.id, str(task.input), str(task.reference))) for task in held_out]
    for number, prompt in enumerate(prompts, 1):
        for name, texts in secrets:
            found = next((text for text in texts if text in prompt), None)
            if found is not None:
                yield f"prompt {number} holds {found!r} of {name}"
