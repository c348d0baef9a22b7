"""Judges for tests: they say what a test wants, and remember what they were shown."""

from __future__ import annotations

import json
from collections.abc import Callable

from skillopt.testing.conversation import Brain, BrainReply, Conversation
from skillopt.testing.faults import FaultKind

Say = Callable[[str, int], object]


def judge_who(says: Say, shown: list[Conversation] | None = None) -> Brain:
    """Return a judge: `says` gets what was asked and how often this was asked before.

    A text is sent as it is, `None` is a failure that does not pass, anything else is sent as JSON.
    """
    asked: dict[str, int] = {}

    def brain(conversation: Conversation) -> BrainReply:
        if shown is not None:
            shown.append(conversation)
        said = says(conversation.asked, len(asked))
        asked[conversation.digest] = len(asked)
        if said is None:
            return BrainReply(fault=FaultKind.CONTEXT)
        return BrainReply(text=said if isinstance(said, str) else json.dumps(said))

    return brain
