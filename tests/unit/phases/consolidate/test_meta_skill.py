from __future__ import annotations

import json

from skillopt.domain.progress.memory import Memory
from skillopt.domain.skill import Skill
from skillopt.phases.consolidate.meta_skill import Advice, Epoch, meta_skill
from skillopt.phases.consolidate.pairs import Comparison
from skillopt.testing.conversation import BrainReply, Conversation
from tests.unit.phases.authors import authored
from tests.unit.phases.consolidate.comparisons import comparison


def advised(said: str, compared: Comparison, memory: Memory = Memory()) -> tuple[Advice, list[Conversation]]:
    """Ask an optimizer that says this; return what came of it and what it was shown."""
    shown: list[Conversation] = []

    def brain(conversation: Conversation) -> BrainReply:
        shown.append(conversation)
        return BrainReply(text=said)

    epoch = Epoch(
        before=Skill.from_text("# Then\n"), after=Skill.from_text("# Now\n"), comparison=compared, memory=memory
    )

    return authored(brain, lambda author: meta_skill(author, epoch, 6000)), shown


REPLY = json.dumps({"reasoning": "Because.", "meta_skill_content": " Short edits work. "})


def test_the_optimizer_sees_skills_pairs_and_its_earlier_advice() -> None:
    advice, (shown,) = advised(REPLY, comparison("10", "01"), Memory(advice="Be exact."))
    assert advice == Advice(content="Short edits work.", reasoning="Because.")
    assert "Be exact." in shown.asked
    assert "then to t0" in shown.asked
    assert shown.asked.index("# Then") < shown.asked.index("# Now")


def test_nothing_to_learn_from_asks_nothing() -> None:
    advice, shown = advised(REPLY, Comparison())
    assert (advice.content, shown) == ("", [])


def test_earlier_steps_are_enough_to_learn_from() -> None:
    advice, shown = advised(REPLY, Comparison(), Memory(advice="Be exact."))
    assert advice.content
    assert len(shown) == 1


def test_what_could_not_be_read_is_told() -> None:
    advice, _ = advised("No.", comparison("1", "0"))
    assert advice.content == ""
    assert "Unreadable" in advice.unusable
