"""Small worlds with a known truth: their rules, their tasks, and how a target behaves in them.
Owns task generation and the target's side; refuses to know how an optimizer learns and who grades."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Literal

import msgspec

from skillopt.domain.seeds import dice
from skillopt.testing.conversation import BrainReply, Conversation

Split = Literal["train", "val", "test"]

NEEDS = re.compile(r"\[needs: ([\w, -]+)\]")
VIOLATED = re.compile(r"\[violated: ([\w-]+)\]")
HURT = re.compile(r"\[hurt by: ([\w-]+)\]")
ITEM = re.compile(r"\[id: [\w-]+\]")
_REFERENCE = re.compile(r"\[ref: ([A-Z2-7]+)\]")
_FRAGILE = "[fragile]"
_EASY, _IMPOSSIBLE = 0.4, 0.3
_MIXED = re.compile(r"\[(easy|impossible|coin), cured from (\d\d)\]")
_REMEDY = re.compile(r"Remedy (\d\d):")


class Rule(msgspec.Struct, frozen=True):
    """A rule that a skill can teach: the target follows it iff the skill has its sentence, letter by letter."""

    name: str
    sentence: str


class Rulebook(msgspec.Struct, frozen=True, kw_only=True):
    """The rules that tasks may need, and one that spoils fragile tasks when a skill has it."""

    rules: tuple[Rule, ...]
    harmful: Rule | None = None

    def find(self, name: str) -> Rule | None:
        """Return the rule with this name, the harmful one included."""
        every = self.rules if self.harmful is None else (*self.rules, self.harmful)
        return next((rule for rule in every if rule.name == name), None)


RULES = Rulebook(
    rules=(
        Rule("wrap-answer", "Close every reply with the final answer inside answer tags."),
        Rule("iso-date", "Write each date as year, month and day with hyphens between them."),
        Rule("imperative-title", "Begin each title with a verb that gives an order."),
        Rule("si-units", "State each quantity in SI units and name the unit."),
        Rule("json-only", "Where JSON is wanted, send the JSON value and no other word."),
        Rule("name-source", "Name the document from which each fact was taken."),
    ),
    harmful=Rule("first-guess", "Trust the first guess and leave out every check."),
)

HIDDEN_RULES = Rulebook(
    rules=(
        Rule("1", "Round every sum of money to whole cents before adding it up."),
        Rule("2", "Count the day of arrival but not the day of departure."),
        Rule("3", "Treat an order without a signature as withdrawn."),
        Rule("4", "Sort names by family name and then by date of birth."),
        Rule("5", "Convert foreign amounts at the rate of the invoice date."),
        Rule("6", "Send parcels above twenty kilograms by freight."),
        Rule("7", "Ask the warehouse before promising a delivery on a Friday."),
        Rule("8", "Book returned goods against the month of their sale."),
    )
)


class TaskRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a task file."""

    id: str
    input: str
    reference: str
    type: str


class WorldTasks(msgspec.Struct, frozen=True, kw_only=True):
    """The task sets of a world."""

    train: tuple[TaskRow, ...]
    val: tuple[TaskRow, ...]
    test: tuple[TaskRow, ...]

    def of(self, split: Split) -> tuple[TaskRow, ...]:
        """Return the tasks of a split."""
        return {"train": self.train, "val": self.val, "test": self.test}[split]

    def rows(self, split: Split) -> list[dict[str, str]]:
        """Return the tasks of a split as plain rows, for a JSON encoder."""
        return [msgspec.to_builtins(row) for row in self.of(split)]

    def jsonl(self, split: Split) -> str:
        """Return the text of a task file."""
        return "".join(msgspec.json.encode(row).decode() + "\n" for row in self.of(split))


def rules_world(seed: int, train: int, val: int, test: int) -> WorldTasks:
    """Return tasks that need rules of RULES; about a fifth need none, and about a quarter are fragile."""
    return _world(seed, (train, val, test), lambda names: _rule_tags(RULES, names))


def hidden_rules_world(seed: int, train: int = 80, val: int = 40, test: int = 40) -> WorldTasks:
    """Return tasks that need up to three of the eight HIDDEN_RULES; about a fifth need none."""
    return _world(seed, (train, val, test), lambda names: _rule_tags(HIDDEN_RULES, names))


def coin_world(seed: int, train: int, val: int, test: int) -> WorldTasks:
    """Return tasks whose answers are right half of the time, whatever the skill says."""
    return _world(seed, (train, val, test), lambda _names: ("coin", ""))


def memorising_world(seed: int, train: int, val: int, test: int) -> WorldTasks:
    """Return tasks that are answered right iff the skill holds their own id: nothing learned carries over."""
    return _world(seed, (train, val, test), lambda names: ("item", f"[id: {names[-1]}] "))


def mixed_world(seed: int, train: int, val: int, test: int) -> WorldTasks:
    """Return tasks of which 40 % are easy, 30 % impossible and 30 % coin flips; a remedy may make some always right."""
    return _world(seed, (train, val, test), _mixed_tags)


def remedy(percent: int) -> str:
    """Return the sentence that makes this share of the tasks that are not easy always right; 0 changes nothing."""
    return f"Remedy {percent:02d}: follow the notes of the office."


class PlantedSkill(msgspec.Struct, frozen=True, kw_only=True):
    """A skill with lines that the world of RULES needs, and lines that do nothing in any world."""

    text: str
    useful: tuple[str, ...]
    useless: tuple[str, ...]


def planted_skill(seed: int, useless: int = 4) -> PlantedSkill:
    """Return a skill in which useful and useless lines are mixed."""
    draw = dice("planted", seed)
    useful = tuple(rule.sentence for rule in RULES.rules)
    idle = tuple(f"Note {draw.randrange(10**6):06d}: carry on as before." for _ in range(useless))
    lines = draw.sample((*useful, *idle), len(useful) + useless)
    return PlantedSkill(
        text="# House style\n\n" + "".join(f"- {line}\n" for line in lines), useful=useful, useless=idle
    )


_PLACES = ("north depot", "harbour office", "tram yard", "city archive", "glass works", "river lock", "seed bank")
_MATTERS = ("ledger", "timetable", "inventory", "repair note", "visitor log", "tender", "shift plan", "survey")
_FIRST = ("amber", "cobalt", "distant", "early", "gentle", "hollow", "ivory", "lucid", "narrow", "quiet", "silver")
_SECOND = ("anchor", "beacon", "canyon", "falcon", "garden", "lantern", "meadow", "orchard", "pillar", "temple")

_Tags = Callable[[tuple[object, ...]], tuple[str, str]]


def _world(seed: int, sizes: tuple[int, int, int], tags: _Tags) -> WorldTasks:
    """Make all splits; a task depends on the seed, its split and its place, so a longer split starts the same."""
    train, val, test = (
        tuple(_task(f"{split}-{number:05d}", seed, tags) for number in range(1, size + 1))
        for split, size in zip(("train", "val", "test"), sizes, strict=True)
    )
    return WorldTasks(train=train, val=val, test=test)


def _task(name: str, seed: int, tags: _Tags) -> TaskRow:
    draw = dice("task", seed, name)
    reference = f"{draw.choice(_FIRST)} {draw.choice(_SECOND)} {draw.randrange(1000, 10000)}"
    case = draw.randrange(10**6)
    kind, marks = tags(("tags", seed, name))
    text = f"Case {case:06d}: settle the {draw.choice(_MATTERS)} of the {draw.choice(_PLACES)}."
    return TaskRow(id=name, input=f"{text}\n{marks}[ref: {_hide(reference)}]", reference=reference, type=kind)


def _rule_tags(book: Rulebook, names: tuple[object, ...]) -> tuple[str, str]:
    draw = dice(*names)
    count = draw.choice((0, 1, 1, 2, 3))
    needed = draw.sample([rule.name for rule in book.rules], count)
    fragile = book.harmful is not None and draw.random() < 0.25
    marks = f"[needs: {', '.join(needed)}] " if needed else ""
    return (needed[0] if needed else "plain", marks + (f"{_FRAGILE} " if fragile else ""))


def _mixed_tags(names: tuple[object, ...]) -> tuple[str, str]:
    draw = dice(*names)
    luck = draw.random()
    kind = "easy" if luck < _EASY else "impossible" if luck < _EASY + _IMPOSSIBLE else "coin"
    return kind, f"[{kind}, cured from {draw.randrange(100):02d}] "


def _hide(reference: str) -> str:
    return base64.b32encode(reference.encode()).decode().rstrip("=")


def _reveal(hidden: str) -> str:
    return base64.b32decode(hidden + "=" * (-len(hidden) % 8)).decode()


def _right(reference: str) -> BrainReply:
    return BrainReply(text=f"<answer>{reference}</answer>")


def _near_miss(reference: str, why: str) -> BrainReply:
    return BrainReply(text=f"I am not sure about this one. {why}\n<answer>{reference[:-2]}</answer>")


Target = Callable[[Conversation, str, str], BrainReply]


def target(answer: Target) -> Callable[[Conversation], BrainReply]:
    """Return the brain of a target: it finds its task, and `answer` gets the conversation, the task and the truth."""

    def reply(conversation: Conversation) -> BrainReply:
        """Answer the newest task of the conversation."""
        users = (turn.text for turn in reversed(conversation.turns) if turn.speaker == "user")
        task = next((text for text in users if "[ref: " in text), "")
        found = _REFERENCE.search(task)
        if found is None:
            return BrainReply(text="There is no case here to settle.")
        return answer(conversation, task, _reveal(found[1]))

    return reply


def rules_target(book: Rulebook) -> Target:
    """Return how a target answers that follows exactly the rules whose sentences it was sent."""

    def answer(conversation: Conversation, task: str, reference: str) -> BrainReply:
        """Be right iff every needed rule is there and nothing spoils the task."""
        sent = conversation.everything
        if book.harmful is not None and _FRAGILE in task and book.harmful.sentence in sent:
            return _near_miss(reference, f"[hurt by: {book.harmful.name}]")
        tags = NEEDS.search(task)
        for name in tags[1].split(", ") if tags else ():
            rule = book.find(name)
            if rule is None or rule.sentence not in sent:
                return _near_miss(reference, f"[violated: {name}]")
        return _right(reference)

    return answer


def coin_target(conversation: Conversation, _task: str, reference: str) -> BrainReply:
    """Be right half of the time; the same conversation always falls the same way."""
    heads = dice("coin", conversation.digest).random() < 0.5
    return _right(reference) if heads else _near_miss(reference, "[bad luck]")


def memorising_target(conversation: Conversation, task: str, reference: str) -> BrainReply:
    """Be right iff the system text holds the task's id."""
    item = ITEM.search(task)
    known = item is not None and item[0] in conversation.system
    return _right(reference) if known else _near_miss(reference, "[not known by heart]")


def mixed_target(conversation: Conversation, task: str, reference: str) -> BrainReply:
    """Be right on what is easy and what a remedy in the skill cures; else by the coin, or never."""
    found = _MIXED.search(task)
    cured = max((int(percent) for percent in _REMEDY.findall(conversation.system)), default=0)
    if found is None or found[1] == "easy" or int(found[2]) < cured:
        return _right(reference)
    if found[1] == "coin":
        return coin_target(conversation, task, reference)
    return _near_miss(reference, "[beyond me]")
