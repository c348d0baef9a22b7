"""What an agent is told besides its task: where things lie, what it may do, and how its answer is to look.
Owns these words; refuses to know the task, the program that reads them, and what the answer is worth."""

from __future__ import annotations

import msgspec

from skillopt.agents.settings import AgentSettings
from skillopt.domain.agency.errands import Errand

TASK, INDEX = "task.md", "ATTACHMENTS.md"
SKILL_HOME = ".agents/skills"
_ALONE = "Nobody can answer questions or give permission meanwhile, so decide for yourself and finish the task."
_ANSWER = (
    "When you are done, close with your final answer, in the form that the task asks for and with its tags if it names"
    " any. Say nothing after it."
)
_AGAIN = "An earlier attempt at this ended without any answer. Read the files again, and be sure to close with one."


class Answer(msgspec.Struct, frozen=True):
    """The form of an answer that was asked for by a schema."""

    final_response: str
    final_answer: str

    @property
    def said(self) -> str:
        """What is graded: the closing message, or else the bare answer with the tag it would have had."""
        if self.final_response.strip():
            return self.final_response
        bare = self.final_answer.strip()
        return bare if not bare or "<answer>" in bare else f"<answer>{bare}</answer>"


SCHEMA = msgspec.json.encode(
    {
        "type": "object",
        "properties": {
            "final_response": {"type": "string", "description": "The whole closing message, answer included."},
            "final_answer": {"type": "string", "description": "The bare answer to the task."},
        },
        "required": ["final_response", "final_answer"],
        "additionalProperties": False,
    }
).decode()


def prompt(errand: Errand, settings: AgentSettings, *, skill: str, again: bool = False) -> str:
    """Return what the program is told; `again` says that an earlier attempt ended without an answer."""
    lines = [f"Your task is written in {TASK}, in the current folder. Read it before anything else."]
    if settings.skill == "told":
        lines.append(f"Then read {SKILL_HOME}/{skill}/SKILL.md and go by what it says.")
    if errand.images:
        lines.append(f"{INDEX} lists what belongs to the task and lies in attachments/.")
    if settings.data_dirs:
        folders = ", ".join(f"data/{name}" for name in settings.data_dirs)
        lines.append(f"You may also read {folders}.")
    if errand.shims:
        tools = ", ".join(f"`{name}`" for name in errand.shims)
        lines.append(f"Besides the usual commands, your shell has some for this task: {tools}.")
    if settings.files == "edit":
        lines.append("You may create and change files in the current folder.")
    else:
        lines.append("Do not create, change or delete any file.")
    lines += [_ALONE, _ANSWER]
    if again:
        lines.append(_AGAIN)
    return "\n".join(lines)


def heard_answer(text: str) -> str:
    """Return what is graded of an answer for which a schema was given; one that ignored the schema stands as it is."""
    try:
        return msgspec.json.decode(text, type=Answer).said
    except msgspec.DecodeError:
        return text
