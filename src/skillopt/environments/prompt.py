"""How a task is put to the target.
Owns the default prompt and the templates that may replace it; refuses to know references, checks and models."""

from __future__ import annotations

import re

import msgspec

from skillopt.domain.chat import Message
from skillopt.domain.errors import UsageError, unknown_name
from skillopt.domain.tasks import Task

_PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*)\}", re.ASCII)
_PLACEHOLDERS = frozenset({"skill", "context", "input"})


class PromptSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Templates in place of the default prompt; `{skill}`, `{context}` and `{input}` are filled in, once.

    system: The system message, with `{skill}` in it; null sends the skill alone.
    user: The user message, with `{input}` in it; null sends the task's context and input.
    """

    system: str | None = None
    user: str | None = None

    def __post_init__(self) -> None:
        used = self._used(self.system) | self._used(self.user)
        for name in sorted(used - _PLACEHOLDERS):
            raise unknown_name("placeholder", name, _PLACEHOLDERS)
        if self.system is not None and "skill" not in used:
            raise UsageError(
                "The prompt templates never show the skill, so nothing could be learned.",
                hint="Put {skill} into environment.prompt.system.",
            )
        if self.user is not None and "input" not in used:
            raise UsageError(
                "The prompt templates never show the task.", hint="Put {input} into environment.prompt.user."
            )

    @property
    def takes_chat(self) -> bool:
        """Whether a task that is already a conversation can be put this way."""
        return self.user is None and "input" not in self._used(self.system)

    @staticmethod
    def _used(template: str | None) -> set[str]:
        return set() if template is None else set(_PLACEHOLDER.findall(template))

    def messages(self, task: Task, skill: str) -> tuple[Message, ...]:
        """Return what the target is sent: the skill as system message, then context and input.

        A conversation passes through: its own system message follows the skill in the same message, and the context
        goes before its first user message.
        """
        system = skill.strip() if self.system is None else self._filled(self.system, task, skill)
        if not isinstance(task.input, str):
            return _joined(system, task.context, task.input)
        if self.user is None:
            return _joined(system, task.context, (Message("user", task.input),))
        return _joined(system, None, (Message("user", self._filled(self.user, task, skill)),))

    @staticmethod
    def _filled(template: str, task: Task, skill: str) -> str:
        values = {
            "skill": skill.strip(),
            "context": "" if task.context is None else task.context,
            "input": task.input if isinstance(task.input, str) else "",
        }
        return _PLACEHOLDER.sub(lambda found: values[found[1]], template)


def _joined(system: str, context: str | None, turns: tuple[Message, ...]) -> tuple[Message, ...]:
    if turns[0].role == "system":
        system = f"{system}\n\n{turns[0].content}" if system else turns[0].content
        turns = turns[1:]
    if context:
        first = next(place for place, turn in enumerate(turns) if turn.role == "user")
        opening = Message("user", f"{context}\n\n{turns[first].content}")
        turns = (*turns[:first], opening, *turns[first + 1 :])
    return (Message("system", system), *turns) if system else turns
