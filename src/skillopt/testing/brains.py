"""The scripted models by name: each a deterministic function from a conversation to a reply.
Owns the registry; refuses to guess: an unknown name is an error that lists the known ones."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from skillopt.domain.errors import named
from skillopt.domain.seeds import dice
from skillopt.testing.conversation import Brain, BrainReply, Conversation
from skillopt.testing.faults import FaultKind
from skillopt.testing.teacher import Lesson, Prompt, rules_teacher, teacher
from skillopt.testing.worlds import (
    HIDDEN_RULES,
    ITEM,
    RULES,
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


BRAINS: Mapping[str, Brain] = MappingProxyType(
    {
        "rules": two_sided(target(rules_target(RULES)), teacher(rules_teacher(RULES))),
        "hidden-rules": two_sided(target(rules_target(HIDDEN_RULES)), teacher(rules_teacher(HIDDEN_RULES))),
        "coin": two_sided(target(coin_target), teacher(coin_teacher)),
        "mixed": two_sided(target(mixed_target), teacher(mixed_teacher)),
        "memorising": two_sided(target(memorising_target), teacher(memorising_teacher)),
        "echo": echo,
        "stubborn": two_sided(target(rules_target(RULES)), _rambling),
        "always-fails": always_fails,
    }
)


def brain_named(name: str, brains: Mapping[str, Brain] = BRAINS) -> Brain:
    """Return the brain with this name."""
    return named("brain", name, brains)
