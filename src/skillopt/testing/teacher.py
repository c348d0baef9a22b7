"""The optimizer's side of the worlds: reads what a prompt shows and answers by the reply contracts.
Owns one answer for each kind of task that our prompts name in their first line; refuses to know the prompts' wording.

A prompt may show the skill between <skill> tags; without them the whole prompt counts as the skill."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType

import msgspec

from skillopt.domain.seeds import dice
from skillopt.testing.conversation import BrainReply, Conversation
from skillopt.testing.worlds import HURT, VIOLATED, Rulebook

_SKILL = re.compile(r"<skill\b[^>]*>(.*?)</skill>", re.DOTALL)
_PAIR = re.compile(r"<(?:first|second)-answer\b[^>]*>(.*?)</(?:first|second)-answer", re.DOTALL)
_BUDGETS = (re.compile(r"edit budget:\s*(\d+)", re.IGNORECASE), re.compile(r"at most (\d+)", re.IGNORECASE))
_TASK = re.compile(r"task:\s*(.+)", re.IGNORECASE)
_LISTS = ("edits", "revise_suggestions", "skill_candidates")
_NOTHING_NEW = "Nothing here calls for a change."


class Lesson(msgspec.Struct, frozen=True, kw_only=True):
    """One change that the shown failures call for, and the reason in a word."""

    op: str = "append"
    content: str = ""
    target: str = ""
    reason: str


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """What a teacher sees of a request."""

    text: str
    shown: str
    skill: str
    budget: int | None
    digest: str


Teach = Callable[[Prompt], tuple[Lesson, ...]]


def teacher(teach: Teach) -> Callable[[Conversation], BrainReply]:
    """Return the brain of an optimizer or judge; `teach` says what the world's failures call for."""

    def reply(conversation: Conversation) -> BrainReply:
        """Answer by the contract that the prompt's first line names."""
        prompt = _read(conversation)
        named = _TASK.match(prompt.text.lstrip())
        kind = named[1].strip().lower() if named else ""
        for name, answer in _ANSWERS.items():
            if kind.startswith(name):
                return BrainReply(text=json.dumps(answer(prompt, teach(prompt)), ensure_ascii=False))
        return BrainReply(text=f"I do not know the task {kind!r}; I know {', '.join(_ANSWERS)}.")

    return reply


def rules_teacher(book: Rulebook) -> Teach:
    """Return a teacher that appends the sentences of violated rules, and takes the harmful one out again.

    For one prompt in four it also proposes the harmful rule, so that a gate has something to catch.
    """

    def teach(prompt: Prompt) -> tuple[Lesson, ...]:
        """Return at most as many lessons as the prompt allows."""
        lessons = []
        for name in dict.fromkeys(HURT.findall(prompt.text)):
            rule = book.find(name)
            if rule is not None and rule.sentence in prompt.skill:
                lessons.append(Lesson(op="delete", target=rule.sentence, reason=name))
        for name in dict.fromkeys(VIOLATED.findall(prompt.text)):
            rule = book.find(name)
            if rule is not None and rule.sentence not in prompt.skill:
                lessons.append(Lesson(content=rule.sentence, reason=name))
        if book.harmful is not None and _tempted(book.harmful.sentence, prompt):
            kept = lessons if prompt.budget is None else lessons[: max(0, prompt.budget - 1)]
            lessons = [*kept, Lesson(content=book.harmful.sentence, reason=book.harmful.name)]
        return tuple(lessons[: prompt.budget])

    return teach


def _tempted(harmful: str, prompt: Prompt) -> bool:
    return harmful not in prompt.skill and dice("harm", prompt.digest).random() < 0.25


def _read(conversation: Conversation) -> Prompt:
    text = conversation.everything
    skills = _SKILL.findall(text)
    found = next((match for pattern in _BUDGETS if (match := pattern.search(text))), None)
    return Prompt(
        text=text,
        shown="\n\n".join(turn.text for turn in conversation.turns if turn.speaker == "user"),
        skill=skills[-1] if skills else text,
        budget=int(found[1]) if found else None,
        digest=conversation.digest,
    )


Answer = Mapping[str, object]


def _reflect(prompt: Prompt, lessons: tuple[Lesson, ...]) -> Answer:
    patch: dict[str, object] = {
        "reasoning": f"Shown: {', '.join(lesson.reason for lesson in lessons)}." if lessons else _NOTHING_NEW
    }
    if "skill_candidates" in prompt.text:
        patch["skill_candidates"] = [
            {"title": "Lessons worked in", "change_summary": _reasons(lessons), "new_skill": _revised(prompt, lessons)}
        ]
    elif "revise_suggestions" in prompt.text:
        patch["revise_suggestions"] = [_suggestion(lesson) for lesson in lessons]
    else:
        patch["edits"] = [_edit(lesson) for lesson in lessons]
    if "success_patterns" in prompt.text and "failure_summary" not in prompt.text:
        return {"success_patterns": [], "patch": patch}
    summary = [
        {"failure_type": lesson.reason, "count": 1, "description": f"The answer failed on {lesson.reason}."}
        for lesson in lessons
    ]
    return {"failure_summary": summary, "patch": patch}


def _edit(lesson: Lesson) -> Answer:
    return {"op": lesson.op, "content": lesson.content, "target": lesson.target}


def _suggestion(lesson: Lesson) -> Answer:
    removes = lesson.op == "delete"
    return {
        "type": "remove_rule" if removes else "add_rule",
        "title": lesson.reason,
        "motivation": f"The answer failed on {lesson.reason}.",
        "instruction": lesson.target if removes else lesson.content,
        "priority_hint": "high",
    }


def _reasons(lessons: Iterable[Lesson]) -> list[str]:
    return [lesson.reason for lesson in lessons]


def _revised(prompt: Prompt, lessons: Iterable[Lesson]) -> str:
    lines = prompt.skill.strip().split("\n")
    for lesson in lessons:
        if lesson.op == "delete":
            lines = [line.replace(lesson.target, "") for line in lines]
        else:
            lines.append(lesson.content)
    return "\n".join(lines) + "\n"


def _merge(prompt: Prompt, _lessons: tuple[Lesson, ...]) -> Answer:
    lists = _proposals(prompt.shown)
    name = next((name for name in _LISTS if lists[name]), "edits")
    reasoning = f"Kept each of {len(lists[name])} different proposals once."
    if name != "skill_candidates":
        return {"reasoning": reasoning, name: lists[name]}
    lines: dict[str, None] = {}
    for candidate in lists[name]:
        lines.update(dict.fromkeys(str(candidate["new_skill"]).split("\n")))
    merged = {"title": "All lessons", "change_summary": [reasoning], "new_skill": "\n".join(lines)}
    return {"reasoning": reasoning, name: [merged]}


def _rank(prompt: Prompt, _lessons: tuple[Lesson, ...]) -> Answer:
    lists = _proposals(prompt.shown)
    proposals = next((lists[name] for name in _LISTS if lists[name]), [])
    order = sorted(range(len(proposals)), key=lambda index: -_support(proposals[index]))
    return {"reasoning": "The widest support first.", "selected_indices": order[: prompt.budget]}


def _support(proposal: Answer) -> int:
    support = next((proposal[name] for name in ("support", "support_count") if name in proposal), 1)
    return support if isinstance(support, int) else 1


def _rewrite(prompt: Prompt, lessons: tuple[Lesson, ...]) -> Answer:
    suggested = [
        Lesson(
            op="delete" if suggestion["type"] == "remove_rule" else "append",
            content=str(suggestion["instruction"]),
            target=str(suggestion["instruction"]),
            reason=str(suggestion["title"]),
        )
        for suggestion in _proposals(prompt.shown)["revise_suggestions"]
        if {"type", "instruction", "title"} <= suggestion.keys()
    ]
    chosen = suggested or list(lessons)
    return {"new_skill": _revised(prompt, chosen), "change_summary": _reasons(chosen)}


def _slow_update(_prompt: Prompt, lessons: tuple[Lesson, ...]) -> Answer:
    contents = [lesson.content for lesson in lessons if lesson.op == "append"]
    advice = " ".join(contents) or "Keep to what has worked so far."
    return {"reasoning": ", ".join(_reasons(lessons)) or _NOTHING_NEW, "slow_update_content": advice}


def _meta(_prompt: Prompt, lessons: tuple[Lesson, ...]) -> Answer:
    seen = ", ".join(_reasons(lessons)) or "nothing new"
    return {"reasoning": "Noted for later.", "meta_skill_content": f"Short exact sentences work. Seen: {seen}."}


def _notes(_prompt: Prompt, lessons: tuple[Lesson, ...]) -> Answer:
    return {"appendix_notes": [lesson.content for lesson in lessons if lesson.op == "append"]}


def _budget(prompt: Prompt, lessons: tuple[Lesson, ...]) -> Answer:
    lists = _proposals(prompt.shown)
    count = max(1, len(lessons), *(len(lists[name]) for name in _LISTS))
    return {"learning_rate": count, "reasoning": "As many as there are.", "confidence": 1.0, "risk_notes": []}


def _judge(prompt: Prompt, _lessons: tuple[Lesson, ...]) -> Answer:
    flaw = VIOLATED.search(prompt.shown) or HURT.search(prompt.shown)
    return {"score": 0.0 if flaw else 1.0, "reason": f"It says {flaw[0]}." if flaw else "No flaw in sight."}


def _compare(prompt: Prompt, _lessons: tuple[Lesson, ...]) -> Answer:
    flaws = [len(VIOLATED.findall(answer) + HURT.findall(answer)) for answer in _PAIR.findall(prompt.shown)]
    better = "neither" if len(set(flaws)) < 2 else ("first", "second")[flaws.index(min(flaws))]
    return {"better": better, "reason": "By the number of flaws in sight."}


_ANSWERS: Mapping[str, Callable[[Prompt, tuple[Lesson, ...]], Answer]] = MappingProxyType(
    {
        "reflect": _reflect,
        "merge": _merge,
        "rank": _rank,
        "rewrite": _rewrite,
        "repair": lambda _prompt, _lessons: {"edits": []},
        "slow update": _slow_update,
        "meta": _meta,
        "notes": _notes,
        "budget": _budget,
        "judge": _judge,
        "compare": _compare,
    }
)


def _proposals(text: str) -> Mapping[str, list[Answer]]:
    """Return the different proposals in the JSON that the text holds, by the contract's names of lists.

    A bare list of edits counts as edits; the same edit is kept once, whatever else its copies say.
    """
    found: dict[str, dict[str, Answer]] = {name: {} for name in _LISTS}
    for value in _json_values(text):
        for name, proposal in _walk(value, "edits"):
            known = {key: proposal[key] for key in sorted(proposal) if key in _IDENTITY[name]}
            if known:
                found[name].setdefault(json.dumps(known), proposal)
    return {name: list(proposals.values()) for name, proposals in found.items()}


_IDENTITY: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "edits": frozenset({"op", "content", "target", "file"}),
        "revise_suggestions": frozenset({"type", "instruction"}),
        "skill_candidates": frozenset({"new_skill"}),
    }
)


def _walk(value: object, name: str) -> Iterator[tuple[str, dict[str, object]]]:
    if isinstance(value, list):
        for item in value:
            yield from _walk(item, name)
    elif isinstance(value, dict):
        if "op" in value or (name != "edits" and _IDENTITY[name] & value.keys()):
            yield name, value
            return
        for key, item in value.items():
            yield from _walk(item, key if key in _LISTS else name)


def _json_values(text: str) -> Iterator[object]:
    decoder = json.JSONDecoder()
    opening = re.compile(r"[\[{]")
    start = opening.search(text)
    while start:
        try:
            value, end = decoder.raw_decode(text, start.start())
            yield value
        except ValueError:
            end = start.end()
        start = opening.search(text, end)
