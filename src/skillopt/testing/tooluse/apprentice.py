"""A target that works as coding agents do: it reads its task, finds the skill it was told about, opens it and answers.
Owns the order of the steps, which follows from the request alone; refuses to know the world and its rules.

What it answers rests on the results of its tools: a skill that was not opened is a skill it does not know."""

from __future__ import annotations

import re
import shlex

import msgspec

from skillopt.domain.skill import SKILL_FILE
from skillopt.testing.conversation import Brain, BrainReply, Conversation, ToolCall, Turn
from skillopt.testing.tooluse.toolbox import hand_in, results, shell_call, skill_call, skill_file

TASK_FILE = "task.md"
_LIST = "find . -path '*/skills/*/SKILL.md'"
_LISTED = re.compile(r"/skills/([^/\s]+)/SKILL\.md")
_CASE = re.compile(r"^.*\[ref: .*$", re.MULTILINE)
_KIND = re.compile(r"^Task: ", re.MULTILINE)


def apprentice(student: Brain, *, answer_file: str | None = None) -> Brain:
    """Return the brain of a target that works by the shell if it has one, and answers as `student` where not.

    The task is in the prompt or in `task.md`. With `answer_file` the answer is also written there.
    """

    def reply(conversation: Conversation) -> BrainReply:
        """Take the next step, told by the number of results so far."""
        if shell_call(conversation, "") is None:
            return hand_in(conversation, student(conversation))
        taken = results(conversation)
        steps = _reading(conversation)
        if taken < len(steps):
            return _step(steps[taken])
        said = student(_learned(conversation))
        written = None
        if answer_file is not None:
            command = f"printf '%s\\n' {shlex.quote(said.text)} > {shlex.quote(answer_file)}"
            written = shell_call(conversation, command)
        if written is not None and taken == len(steps):
            return _step(written)
        return hand_in(conversation, said)

    return reply


def undisturbed(master: Brain) -> Brain:
    """Return the brain of an optimizer that overlooks what an agent's own prompt says before the request."""

    def reply(conversation: Conversation) -> BrainReply:
        """Answer what comes from the first line on that names a task."""
        text = conversation.everything
        named = _KIND.search(text)
        asked = text[named.start() :] if named else text
        request = msgspec.structs.replace(conversation, system="", turns=(Turn("user", asked),), tools=())
        return hand_in(conversation, master(request))

    return reply


def _reading(conversation: Conversation) -> list[ToolCall]:
    """Return the steps that bring the task and the skills, as far as the results so far tell them."""
    told = _prompt(conversation)
    found = [turn.text for turn in conversation.turns if turn.speaker == "tool"]
    commands = [_LIST] if _CASE.search(told) else [f"cat {TASK_FILE}", _LIST]
    calls = [shell_call(conversation, command) for command in commands]
    if len(found) >= len(commands):
        names = dict.fromkeys(_LISTED.findall(found[len(commands) - 1]))
        calls += [_opening(conversation, name, told) for name in sorted(names)]
    return [call for call in calls if call is not None]


def _opening(conversation: Conversation, skill: str, told: str) -> ToolCall | None:
    """Return the call that opens a skill the prompt lists, or reads one whose file it names; of no other it knows."""
    name = re.escape(skill)
    if re.search(rf"^- {name}:|<name>{name}</name>", told, re.MULTILINE):
        return skill_call(conversation, skill)
    if f"/{skill}/{SKILL_FILE}" in told:
        return shell_call(conversation, f"cat {shlex.quote(skill_file(told, skill))}")
    return None


def _prompt(conversation: Conversation) -> str:
    """Return what was there before the first step."""
    turns = conversation.turns
    first = next((index for index, turn in enumerate(turns) if turn.speaker == "tool"), len(turns))
    return "\n\n".join((conversation.system, *(turn.text for turn in turns[:first])))


def _learned(conversation: Conversation) -> Conversation:
    """Return the task and what was found out since, and nothing else that the prompt says."""
    turns = conversation.turns
    first = next((index for index, turn in enumerate(turns) if turn.speaker == "tool"), len(turns))
    seen = "\n\n".join(turn.text for turn in turns[first:] if turn.speaker != "assistant")
    cases = _CASE.findall(_prompt(conversation)) or _CASE.findall(seen)
    task = cases[-1] if cases else ""
    return msgspec.structs.replace(
        conversation, system="", turns=(Turn("user", task), Turn("tool", seen)), tools=(), form=msgspec.UNSET
    )


def _step(call: ToolCall) -> BrainReply:
    return BrainReply(calls=(call,), finish="tool")
