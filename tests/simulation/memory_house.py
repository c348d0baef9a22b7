"""A house in which a run remembers: microbatches accumulate, epochs are looked back on, slips become reminders.
Owns the settings and an optimizer that writes reminders; refuses to know what a test wants to see."""

from __future__ import annotations

import json
from typing import Literal

import msgspec

from skillopt.domain.seeds import dice
from skillopt.phases.consolidate.notes import SkillAwareSettings
from skillopt.phases.consolidate.slow_update import SlowUpdateSettings
from skillopt.testing.brains import BRAINS
from skillopt.testing.conversation import BrainReply, Conversation
from skillopt.testing.worlds import RULES, VIOLATED
from tests.simulation.house import House, house

Accept = Literal["gated", "force"]


def mindful(conversation: Conversation) -> BrainReply:
    """Answer as the teacher of the rules, and where reminders are asked for, remind of a rule, sometimes twice."""
    reply = BRAINS["rules"](conversation)
    text = conversation.everything
    if text.startswith("Task: notes"):
        listed = [line[2:] for line in text.split("# The reminders")[1].splitlines() if line.startswith("- ")]
        return BrainReply(text=json.dumps({"appendix_notes": listed[: max(1, len(listed) - 1)]}))
    if '"appendix_notes"' not in text or not reply.text.startswith("{"):
        return reply
    draw = dice("reminder", conversation.digest)
    violated = list(dict.fromkeys(VIOLATED.findall(text)))
    notes = [rule.sentence for rule in RULES.rules if rule.name in violated and draw.random() < 0.5]
    notes += [f"  {note.upper()} ;" for note in notes[:1]]
    if draw.random() < 0.2:
        notes.append(f"Mind case {draw.randrange(10)}.")
    return BrainReply(text=json.dumps({**json.loads(reply.text), "appendix_notes": notes}))


def memory_house(
    seed: int = 1,
    *,
    slow: Accept = "gated",
    notes: Accept = "gated",
    pairs: Literal["mixed", "changed", "unchanged"] = "changed",
    epochs: int = 3,
    train_size: int = 12,
    val: int = 6,
) -> House:
    """Return a house with everything on that a run can remember by."""
    home = house(seed, train_size=train_size, val=val, test=3, epochs=epochs).but(optimizer_brain=mindful)
    plan = home.plan
    optimizer = msgspec.structs.replace(
        plan.optimizer,
        edit_budget=1,
        slow_update=SlowUpdateSettings(samples=4, pairs=pairs, accept=slow),
        meta_skill=True,
        skill_aware=SkillAwareSettings(enabled=True, consolidate_above=2, accept=notes),
    )
    train = msgspec.structs.replace(plan.train, batch_size=3, accumulation=2)
    return home.but(plan=msgspec.structs.replace(plan, optimizer=optimizer, train=train))
