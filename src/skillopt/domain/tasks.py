"""What a target is asked, and how the tasks are split into train, val and test.
Owns identity, digests and the rules of a clean split; refuses to know files, prompts and how answers are graded."""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from skillopt.domain.chat import Message
from skillopt.domain.errors import UsageError, unknown_name
from skillopt.domain.seeds import shuffled

_NAMED = 5  # how many offending tasks a message names before it only counts


class Check(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """One rule an answer must satisfy: an operator and its argument."""

    op: str
    arg: str | int | float | None = None


class Task(msgspec.Struct, frozen=True, kw_only=True, gc=False, forbid_unknown_fields=True):
    """One thing a target is asked. It may see input, context, files and images; everything else stays with us."""

    id: str
    input: str | tuple[Message, ...]
    context: str | None = None
    files: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    reference: str | tuple[str, ...] | None = None
    checks: tuple[Check, ...] = ()
    rubric: str | None = None
    type: str | None = None
    group: str | None = None

    @property
    def references(self) -> tuple[str, ...]:
        """The right answers, any of which will do."""
        if self.reference is None:
            return ()
        return (self.reference,) if isinstance(self.reference, str) else self.reference

    @property
    def public(self) -> Task:
        """The task as whoever attempts it may see it: without what its answer is measured against."""
        return msgspec.structs.replace(self, reference=None, checks=(), rubric=None)

    def noting_images(self, asked: str) -> str:
        """Return what the task asks, for a reader who is shown no images, with a word on those that go with it."""
        if not self.images:
            return asked
        count = "1 image goes" if len(self.images) == 1 else f"{len(self.images)} images go"
        return f"{asked}\n\n[{count} with this task, not shown here.]"

    @property
    def public_digest(self) -> str:
        """The digest of what a target may see; files and images count by name."""
        return _digest(self.input, self.context, self.files, self.images)

    @property
    def grading_digest(self) -> str:
        """The digest of what an answer is measured against."""
        return _digest(self.references, self.checks, self.rubric)


class SplitName(enum.Enum):
    """Which part of the tasks: train teaches, val decides, test only reports."""

    TRAIN = "train"
    VAL = "val"
    TEST = "test"

    @property
    def spellings(self) -> tuple[str, ...]:
        """Every name this split is known by, its own first."""
        match self:
            case SplitName.TRAIN:
                return ("train",)
            case SplitName.VAL:
                return ("val", "valid_seen", "selection")
            case SplitName.TEST:
                return ("test", "valid_unseen")

    @classmethod
    def parse(cls, text: str) -> SplitName:
        """Return the split of this name or alias."""
        for split in cls:
            if text in split.spellings:
                return split
        raise unknown_name("split", text, (name for split in cls for name in split.spellings))


class TaskSet(msgspec.Struct, frozen=True, kw_only=True):
    """The tasks by split, and what is odd about them without being wrong."""

    train: tuple[Task, ...] = ()
    val: tuple[Task, ...] = ()
    test: tuple[Task, ...] = ()
    warnings: tuple[str, ...] = ()

    def of(self, split: SplitName) -> tuple[Task, ...]:
        """Return the tasks of one split."""
        match split:
            case SplitName.TRAIN:
                return self.train
            case SplitName.VAL:
                return self.val
            case SplitName.TEST:
                return self.test

    @property
    def all(self) -> tuple[Task, ...]:
        """The tasks of every split."""
        return (*self.train, *self.val, *self.test)

    @property
    def judged(self) -> int:
        """How many tasks have a rubric, which takes a judge."""
        return sum(task.rubric is not None for split in SplitName for task in self.of(split))

    @classmethod
    def checked(cls, *, train: Sequence[Task], val: Sequence[Task], test: Sequence[Task] = ()) -> TaskSet:
        """Return the set if scores on it would be honest: unique ids, no task in two splits, no empty train or val."""
        tasks = cls(train=tuple(train), val=tuple(val), test=tuple(test))
        problems = [*_empty_splits(tasks), *_repeated_ids(tasks), *_shared_content(tasks)]
        if problems:
            shown = problems[:_NAMED]
            more = f"\n… and {len(problems) - _NAMED} more." if len(problems) > _NAMED else ""
            raise UsageError("\n".join(shown) + more)
        return msgspec.structs.replace(tasks, warnings=_near_duplicates(tasks))


def split_counts(n: int, ratio: Sequence[int]) -> tuple[int, int, int]:
    """Return how many of n go to train, val and test: by largest remainder, the larger weight first among equals."""
    if len(ratio) != 3 or not all(type(weight) is int and weight > 0 for weight in ratio):
        raise UsageError(
            f"A split ratio of {list(ratio)} is not possible.",
            hint="Give three positive whole numbers for train, val and test, such as [2, 1, 7].",
        )
    shares = [divmod(n * weight, sum(ratio)) for weight in ratio]
    first_served = sorted(range(3), key=lambda part: (-shares[part][1], -ratio[part]))
    left_over = n - sum(whole for whole, _ in shares)
    lucky = first_served[:left_over]
    train, val, test = (whole + (part in lucky) for part, (whole, _) in enumerate(shares))
    return train, val, test


def ratio_split(tasks: Sequence[Task], ratio: Sequence[int], seed: int) -> TaskSet:
    """Return the tasks shuffled by the seed and cut into train, val and test; not checked yet."""
    train, val, _ = split_counts(len(tasks), ratio)
    drawn = shuffled(tasks, seed)
    return TaskSet(train=drawn[:train], val=drawn[train : train + val], test=drawn[train + val :])


class _Place(NamedTuple):
    """Where a task stands."""

    split: SplitName
    task_id: str


def _digest(*parts: object) -> str:
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


def _clashes(tasks: TaskSet, key: Callable[[Task], str | bytes]) -> Iterator[tuple[_Place, _Place]]:
    """Yield every task whose key an earlier task already has, after that earlier one."""
    seen: dict[str | bytes, _Place] = {}
    for split in SplitName:
        for task in tasks.of(split):
            here = _Place(split, task.id)
            first = seen.setdefault(key(task), here)
            if first is not here:
                yield first, here


def _empty_splits(tasks: TaskSet) -> list[str]:
    return [
        f"The {split.value} split is empty. Give it at least one task."
        for split in (SplitName.TRAIN, SplitName.VAL)
        if not tasks.of(split)
    ]


def _repeated_ids(tasks: TaskSet) -> list[str]:
    return [
        f"Task id {here.task_id!r} stands twice in the {here.split.value} split. Give each task its own id."
        if first.split is here.split
        else f"Task {here.task_id!r} is in both {first.split.value} and {here.split.value}. Keep it in one split."
        for first, here in _clashes(tasks, lambda task: task.id)
    ]


def _shared_content(tasks: TaskSet) -> list[str]:
    return [
        f"Tasks {first.task_id!r} ({first.split.value}) and {here.task_id!r} ({here.split.value}) ask the same: "
        "a score on one would be remembered from the other. Remove one."
        for first, here in _clashes(tasks, lambda task: task.public_digest)
        if first.split is not here.split and first.task_id != here.task_id
    ]


def _near_duplicates(tasks: TaskSet) -> tuple[str, ...]:
    pairs = [pair for pair in _clashes(tasks, _gist) if pair[0].split is not pair[1].split]
    if not pairs:
        return ()
    named = ", ".join(
        f"{first.task_id!r} ({first.split.value}) and {here.task_id!r} ({here.split.value})"
        for first, here in pairs[:_NAMED]
    )
    more = f" and {len(pairs) - _NAMED} more pairs" if len(pairs) > _NAMED else ""
    return (f"Nearly the same task stands in two splits: {named}{more}. Scores on them are partly remembered.",)


def _gist(task: Task) -> bytes:
    """Return what is left of a task when case, spacing and closing punctuation do not count."""
    asked = task.input if isinstance(task.input, str) else "\n".join(turn.content for turn in task.input)
    texts = ("" if task.context is None else task.context, asked)
    plain = [" ".join(text.casefold().split()).rstrip(" .!?") for text in texts]
    return hashlib.sha256("\0".join((*plain, *task.files, *task.images)).encode()).digest()
