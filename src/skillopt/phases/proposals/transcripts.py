"""What is shown of a graded case, within a bound of tokens, and what is said of the part that is left out.
Owns how the room is shared out; refuses to know which cases are shown together and what is asked about them.

What grading found comes first and the end of the answer next, since that is what was graded; then the task, then the
rest of the answer. Tokens are counted as a quarter of the characters, rounded up."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from skillopt.domain.agency.transcripts import LONGEST_ACCOUNT, Transcript
from skillopt.domain.rollouts import Turn
from skillopt.domain.scores import Scored
from skillopt.domain.tasks import Task

CHARACTERS_A_TOKEN = 4
_ENDING = 400  # of the answer's characters are shown before anything is shown of a long task


class Case(msgspec.Struct, frozen=True):
    """One answered task with its score, what was said after the answer was graded, and what an agent did for it."""

    task: Task
    answer: str
    scored: Scored
    turns: tuple[Turn, ...] = ()
    did: Transcript | None = None


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """How much is shown of a case: about so many tokens; whether the right answer, and the whole way to an answer."""

    tokens: int
    references: bool
    trace: bool


def tokens_of(text: str) -> int:
    """Return about how many tokens a text has."""
    return -(-len(text) // CHARACTERS_A_TOKEN)


def shown_case(number: int, case: Case, shown: Shown) -> str:
    """Return a case as the optimizer sees it."""
    task, score = case.task, case.scored.score
    asked = task.input if isinstance(task.input, str) else "\n".join(turn.content for turn in task.input)
    question = task.noting_images(asked if task.context is None else f"{task.context}\n\n{asked}")
    answer = case.answer if shown.trace else _last_part(case.answer)
    feedback = "" if score is None else score.feedback
    reference = " | ".join(task.references) if shown.references else ""
    room = shown.tokens * CHARACTERS_A_TOKEN
    feedback = _cut(feedback, room // 2, tail=1 / 3)
    reference = _cut(reference, room // 4, tail=1 / 3)
    after = _cut(_after(case.turns), room // 4, tail=1 / 2)
    did = "" if case.did is None else _did(case.did, room // 3, trace=shown.trace)
    left = max(0, room - len(feedback) - len(reference) - len(after) - len(did))
    ending = min(len(answer), max(_ENDING, left // 2))
    question = _cut(question, max(left // 4, left - ending), tail=1 / 3)
    answer = _cut(answer, max(ending, left - len(question)), tail=3 / 4)
    sections = [
        ("What the agent did", did),
        ("Answer", answer),
        ("What grading found", feedback),
        ("Right answer", reference),
    ]
    sections.append(("What was said after that, which did not count", after))
    heading = f"# Task {number}" + (f" ({task.type})" if task.type else "")
    return "\n\n".join([heading, question, *(f"## {title}\n\n{text}" for title, text in sections if text)])


def shown_cases(cases: Sequence[Case], shown: Shown, room: int) -> tuple[str, ...]:
    """Return the cases within so many tokens all together: each gets less where they are many, none is dropped."""
    share = msgspec.structs.replace(shown, tokens=max(1, min(shown.tokens, room // max(1, len(cases)))))
    return tuple(shown_case(number, case, share) for number, case in enumerate(cases, 1))


def _after(turns: Sequence[Turn]) -> str:
    return "\n\n".join(f"Told: {turn.feedback}\n\nAnswered: {turn.text}" for turn in turns)


def _did(transcript: Transcript, room: int, *, trace: bool) -> str:
    """Return how the agent went about it, and its steps where the way to an answer is shown."""
    summary = _cut(transcript.summary(), room // 2, tail=1 / 3)
    steps = transcript.account(room=min(LONGEST_ACCOUNT, max(0, room - len(summary)))) if trace else ""
    return "\n\n".join(part for part in (summary, steps) if part)


def _last_part(answer: str) -> str:
    """Return the last paragraph of an answer, and how much stood before it."""
    before, _, last = answer.strip().rpartition("\n\n")
    return f"[… about {tokens_of(before)} tokens before this left out …]\n\n{last}" if before else last


def _cut(text: str, limit: int, *, tail: float) -> str:
    """Return the text, or its two ends with a word on how much is missing; `tail` is the share of the end."""
    if len(text) <= limit:
        return text
    end = int(limit * tail)
    missing = tokens_of(text[limit - end : len(text) - end])
    return f"{text[: limit - end]}\n[… about {missing} tokens left out …]\n{text[len(text) - end :]}"
