"""The scripted models by name: each a deterministic function from a conversation to a reply.
Owns the registry; refuses to guess: an unknown name is an error that lists the known ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType

from skillopt.domain.errors import named
from skillopt.domain.seeds import dice
from skillopt.testing.conversation import Brain, BrainReply, Conversation, ToolCall
from skillopt.testing.faults import FaultKind
from skillopt.testing.teacher import Lesson, Prompt, rules_teacher, teacher
from skillopt.testing.tooluse.apprentice import apprentice, undisturbed
from skillopt.testing.tooluse.script import SCRIPT, read_script, script_brain
from skillopt.testing.worlds import (
    HIDDEN_RULES,
    ITEM,
    RULES,
    VIOLATED,
    coin_target,
    memorising_target,
    mixed_target,
    remedy,
    rules_target,
    target,
)


def two_sided(student: Brain, master: Brain) -> Brain:
    """Return a brain that answers targets with `student`, and optimizers and judges with `master`."""

    def reply(conversation: Conversation) -> BrainReply:
        """Answer as the part that the model's name says."""
        return (student if conversation.role == "target" else master)(conversation)

    return reply


def echo(conversation: Conversation) -> BrainReply:
    """Say what the user said last."""
    return BrainReply(text=conversation.asked)


def handy(conversation: Conversation) -> BrainReply:
    """Call each tool that is offered; without one, say the digests of the images that were shown."""
    if conversation.tools:
        names = (tool.name for tool in conversation.tools)
        return BrainReply(calls=tuple(ToolCall(name=name, arguments='{"by": "hand"}') for name in names))
    shown = [image for turn in conversation.turns for image in turn.images]
    return BrainReply(text=f"Shown: {' '.join(shown) or 'nothing'}.")


def always_fails(_conversation: Conversation) -> BrainReply:
    """Never answer: the provider is down for every request."""
    return BrainReply(fault=FaultKind.UNAVAILABLE)


def _rambling(_conversation: Conversation) -> BrainReply:
    return BrainReply(text="There is much to be said for leaving things as they are, and I would rather not decide.")


def coin_teacher(prompt: Prompt) -> tuple[Lesson, ...]:
    """Append a numbered sentence that changes nothing."""
    number = dice("note", prompt.digest).randrange(10**6)
    return (Lesson(content=f"Note {number:06d}: carry on as before.", reason="a hunch"),)[: prompt.budget]


def mixed_teacher(prompt: Prompt) -> tuple[Lesson, ...]:
    """Propose a remedy for a share of the tasks that are not easy; half of the time that share is nothing."""
    percent = dice("remedy", prompt.digest).choice((0, 0, 10, 20))
    return (Lesson(content=remedy(percent), reason="a hunch"),)[: prompt.budget]


def memorising_teacher(prompt: Prompt) -> tuple[Lesson, ...]:
    """Append the ids of the items that the prompt shows and the skill does not hold."""
    items = [item for item in dict.fromkeys(ITEM.findall(prompt.text)) if item not in prompt.skill]
    if not items:
        return ()
    return (Lesson(content=f"Items known by heart: {' '.join(items)}.", reason="not known by heart"),)[: prompt.budget]


def mindful(conversation: Conversation) -> BrainReply:
    """Answer as the teacher of the rules; where reminders are asked for, remind of a rule, sometimes twice."""
    said = _RULES(conversation)
    text = conversation.everything
    if text.startswith("Task: notes"):
        listed = [line[2:] for line in text.split("# The reminders")[1].splitlines() if line.startswith("- ")]
        return BrainReply(text=json.dumps({"appendix_notes": listed[: max(1, len(listed) - 1)]}))
    if '"appendix_notes"' not in text or not said.text.startswith("{"):
        return said
    draw = dice("reminder", conversation.digest)
    violated = list(dict.fromkeys(VIOLATED.findall(text)))
    notes = [rule.sentence for rule in RULES.rules if rule.name in violated and draw.random() < _MINDFUL]
    notes += [f"  {note.upper()} ;" for note in notes[:1]]
    if draw.random() < _FUSSY:
        notes.append(f"Mind case {draw.randrange(10)}.")
    return BrainReply(text=json.dumps({**json.loads(said.text), "appendix_notes": notes}))


_MINDFUL = 0.5
_FUSSY = 0.2
_STUDENT, _MASTER = target(rules_target(RULES)), teacher(rules_teacher(RULES))
_RULES = two_sided(_STUDENT, _MASTER)

BRAINS: Mapping[str, Brain] = MappingProxyType(
    {
        "rules": _RULES,
        "hidden-rules": two_sided(target(rules_target(HIDDEN_RULES)), teacher(rules_teacher(HIDDEN_RULES))),
        "agent-rules": two_sided(apprentice(_STUDENT), undisturbed(_MASTER)),
        "agent-rules-file": two_sided(apprentice(_STUDENT, answer_file="answer.txt"), undisturbed(_MASTER)),
        "coin": two_sided(target(coin_target), teacher(coin_teacher)),
        "mixed": two_sided(target(mixed_target), teacher(mixed_teacher)),
        "memorising": two_sided(target(memorising_target), teacher(memorising_teacher)),
        "mindful": mindful,
        "echo": echo,
        "handy": handy,
        "stubborn": two_sided(_STUDENT, _rambling),
        "always-fails": always_fails,
    }
)


def brain_named(name: str, brains: Mapping[str, Brain] = BRAINS) -> Brain:
    """Return the brain with this name, or the one that a script spells out."""
    if name.startswith(SCRIPT):
        return script_brain(read_script(name))
    return named("brain", name, brains)
