"""Who writes changes in a step, and what they are told: the run, the staff, the prompts, the mode; the briefing.
Owns how a question of these phases is put together; refuses to know what any of them asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeVar

import msgspec

from skillopt.domain.chat import Message
from skillopt.domain.progress.memory import Memory
from skillopt.domain.skill import Skill, is_program
from skillopt.kernel.dialogue import Conversation, Unusable, converse
from skillopt.kernel.run import Run
from skillopt.kernel.work import Staff, Stage
from skillopt.phases.prompting import Prompts
from skillopt.phases.proposals.modes import MODES, Mode

Reply = TypeVar("Reply", bound=msgspec.Struct)


class Briefing(msgspec.Struct, frozen=True, kw_only=True):
    """What every question of a step is told besides its own matter; a budget of None means any number of changes.

    `reminders_from` are the kinds of cases that may also lead to reminders for the appendix.
    """

    skill: Skill
    edit_budget: int | None
    memory: Memory
    reminders_from: tuple[Literal["failure", "success"], ...] = ()


class Permissions(msgspec.Struct, frozen=True, kw_only=True):
    """What may be changed besides plain text, and whether edits that could not be made are sent back."""

    scripts: bool = False
    description: bool = False
    repair: bool = True


class Author(msgspec.Struct, frozen=True, kw_only=True):
    """The optimizer at work on a run."""

    run: Run
    staff: Staff
    prompts: Prompts = Prompts()
    mode: Mode = MODES["patch"]
    permissions: Permissions = Permissions()

    async def ask(
        self, stage: Stage, phase: str, contract: type[Reply], questions: Sequence[tuple[str, str]]
    ) -> tuple[Reply | Unusable, ...]:
        """Put questions, each a system text and a user text, and return the replies in order."""
        conversation = Conversation(asker=self.staff.at(stage), phase=phase, contract=contract)
        prompts = [(Message("system", system), Message("user", user)) for system, user in questions]
        return await converse(self.run, conversation, prompts)

    async def ask_one(
        self, stage: Stage, contract: type[Reply], system: str, sections: Sequence[str]
    ) -> Reply | Unusable:
        """Put one question of several sections, in a phase named like its stage."""
        (reply,) = await self.ask(stage, stage, contract, [(system, "\n\n".join(sections))])
        return reply

    def text(self, name: str, **values: str) -> str:
        """Return a prompt with its placeholders filled, those of the mode included."""
        fragments = {placeholder: self.prompts.text(prompt) for placeholder, prompt in self.mode.fragments.items()}
        return self.prompts.text(name, {**fragments, **values})

    def about(self, skill: Skill) -> list[str]:
        """Return the sections of a prompt that show the skill: the document, then all else that may be changed."""
        others = [
            f'<file path="{file.path}">\n{file.text}\n</file>'
            for file in skill.files[1:]
            if self.permissions.scripts or not is_program(file.path, file.text)
        ]
        matter = skill.front_matter if self.permissions.description else ""
        return [
            f"# The skill\n\n<skill>\n{skill.rendered}\n</skill>",
            *([f"# Its front matter, of which only the description may change\n\n{matter.strip()}"] if matter else ()),
            *(["# Its other files\n\n" + "\n\n".join(others)] if others else ()),
        ]


def said_of(budget: int | None) -> str:
    """Return an edit budget in words."""
    return "any number" if budget is None else str(budget)
