"""The contract of the Environment port as a test suite: subclass it, say how to make yours, and let pytest run it.
Owns what every environment promises, with its optional members; knows no environment."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from skillopt.domain.chat import Message
from skillopt.domain.errors import InternalError, SkilloptError, TaskError, UsageError
from skillopt.domain.judging import Unassessed, Unexamined, Unjudged
from skillopt.domain.rollouts import Answered
from skillopt.domain.scores import Score
from skillopt.domain.skill import Change, Skill
from skillopt.domain.tasks import SplitName, Task, TaskSet
from skillopt.kernel.boundary import Attributed
from skillopt.kernel.plugins.members import Attempted, Group, Members, members_of
from skillopt.kernel.ports import Environment

_SKILL = "# A skill\n\nBegin with the word zenith."
_OTHER = "# A skill\n\nBegin with the word nadir."
_MARK = "quite unlikely words 7319"
_ODD_REPLIES = ("", " \n\t", "0", "{}", '{"answer": null}', "<answer></answer>", "naïve 日本 🙂", "word " * 5000)
_MOST_TASKS = 20
_SHORTEST_QUOTE = 4  # a shorter reference stands in too many sentences by chance
_SEEDS = (1, 2, 10**6)
_COUNT = 3


class EnvironmentContract:
    """What every Environment must do. Override `make`, and `right` where you can say what a right answer is."""

    def make(self) -> Environment:
        """Return the environment; each call makes a new one of the same kind."""
        raise NotImplementedError

    def right(self, task: Task) -> str | None:
        """Return a reply that is right, or None where nobody can say."""
        del task
        return None

    def test_version_and_tasks_do_not_change(self) -> None:
        """Two looks, and two environments made alike, see the same."""
        one, other = self.make(), self.make()
        assert isinstance(one.version, str), f"the version is {one.version!r}, not a text"
        assert one.version, "the version is empty"
        assert one.version == one.version == other.version, "the version is another each time"
        assert _tasks(one) == _tasks(one) == _tasks(other), "the tasks are others each time"

    def test_splits_are_clean(self) -> None:
        """No task stands in two splits or twice in one, and there is something to train and to decide on."""
        environment = self.make()
        tasks, draws = environment.tasks, _members(environment).draws
        drawn = tasks.train if draws is None else tuple(task for seed in _SEEDS for task in draws.draw(seed, _COUNT))
        try:
            TaskSet.checked(train=drawn, val=tasks.val, test=tasks.test)
        except UsageError as error:
            raise AssertionError(str(error)) from error

    def test_messages_are_a_function_of_skill_and_task(self) -> None:
        """The same are put the same, and no two skills are put alike."""
        one, other = self.make(), self.make()
        for task in _some(one):
            put = one.messages(task, _SKILL)
            assert put, f"task {task.id!r} is put without a message"
            assert all(isinstance(message, Message) for message in put), f"{put!r} are not all of them Messages"
            assert put == one.messages(task, _SKILL) == other.messages(task, _SKILL), f"{task.id!r} is put differently"
            assert put != one.messages(task, _OTHER), f"the skill makes no difference to task {task.id!r}"

    def test_messages_hold_nothing_an_answer_is_measured_by(self) -> None:
        """Another reference, rule or rubric changes no message."""
        environment = self.make()
        for task in _some(environment):
            marked = msgspec.structs.replace(task, reference=_MARK, rubric=_MARK, checks=())
            said = "\n".join(message.content for message in environment.messages(marked, _SKILL))
            assert _MARK not in said, f"the target is sent what task {task.id!r} is measured by"
            public = environment.messages(task.public, _SKILL)
            assert public == environment.messages(task, _SKILL), f"the messages of {task.id!r} depend on its reference"

    def test_any_reply_is_graded(self) -> None:
        """A reply gets a score or somebody who is asked for one; only a TaskError may say that it cannot be graded."""
        environment = self.make()
        for task in _some(environment):
            for reply in _ODD_REPLIES:
                found = _graded(environment, task, reply)
                kinds = (Score, Unjudged, Unassessed, Unexamined, TaskError)
                assert isinstance(found, kinds), f"grading {reply[:40]!r} came to {found!r}"

    def test_grading_is_a_pure_function(self) -> None:
        """What was graded before makes no difference, and neither does who grades."""
        one, other = self.make(), self.make()
        cases = [(task, reply) for task in _some(one) for reply in (*_ODD_REPLIES[:4], _MARK)]
        first = [str(_graded(one, task, reply)) for task, reply in cases]
        again = [str(_graded(one, task, reply)) for task, reply in reversed(cases)]
        fresh = [str(_graded(other, task, reply)) for task, reply in cases]
        assert first == again[::-1] == fresh, "the same answer is graded differently"

    def test_a_right_answer_is_right(self) -> None:
        """Where the suite knows a right answer, it scores 1."""
        environment = self.make()
        for task in _some(environment):
            reply = self.right(task)
            if reply is not None:
                found = _graded(environment, task, reply)
                assert isinstance(found, Score), f"the right answer to {task.id!r} became {found!r}"
                assert found.hard == 1.0, f"the right answer to {task.id!r} scores {found.hard}"

    def test_what_is_said_of_an_answer_does_not_give_it_away(self) -> None:
        """Neither the feedback of a score nor that of a turn quotes a reference that nobody else said."""
        environment = self.make()
        coach = _members(environment).feedback
        for task in _some(environment):
            graded = _graded(environment, task, _MARK)
            told = [graded.feedback] if isinstance(graded, Score) else []
            told += [] if coach is None else [said for said in [coach.feedback(task, [_MARK])] if said is not None]
            known = "\n".join(message.content for message in environment.messages(task.public, _SKILL))
            for reference in task.references:
                if len(reference) >= _SHORTEST_QUOTE and reference not in known:
                    assert not any(reference in said for said in told), f"{told!r} gives away the answer to {task.id!r}"

    def test_drawing_depends_on_the_seed_alone(self) -> None:
        """A seed gives as many tasks as are asked for, the same ones each time."""
        one, other = _members(self.make()).draws, _members(self.make()).draws
        if one is None or other is None:
            return
        first = [tuple(one.draw(seed, _COUNT)) for seed in _SEEDS]
        again = [tuple(other.draw(seed, _COUNT)) for seed in reversed(_SEEDS)][::-1]
        assert first == again, "a seed gives other tasks each time"
        assert all(len(tasks) == _COUNT for tasks in first), f"{_COUNT} tasks were asked for, {first!r} came"

    def test_feedback_is_a_pure_function(self) -> None:
        """The same replies are told the same: a text with words in it, or nothing."""
        one = self.make()
        coach, other = _members(one).feedback, _members(self.make()).feedback
        if coach is None or other is None:
            return
        for task in _some(one):
            said, again, fresh = (
                [who.feedback(task, replies) for replies in ([_MARK], [_MARK, ""])] for who in (coach, coach, other)
            )
            assert said == again == fresh, "the same replies are told something else each time"
            assert all(each is None or each.strip() for each in said), f"{said!r} are neither texts nor None"

    def test_reflection_is_a_pure_function(self) -> None:
        """The same group leads to the same words or changes."""
        one = self.make()
        reflects, other = _members(one).reflects, _members(self.make()).reflects
        if reflects is None or other is None:
            return
        for wrong in (True, False):
            group = _group(one, wrong=wrong)
            said, again = reflects.reflection(group), reflects.reflection(group)
            assert said == again == other.reflection(group), "the same group is reflected on differently"
            changes = () if isinstance(said, str) else tuple(said)
            assert all(isinstance(change, Change) for change in changes), f"{said!r} is neither a text nor changes"


def _members(environment: Environment) -> Members:
    try:
        return members_of(environment)
    except UsageError as error:
        raise AssertionError(str(error)) from error


def _tasks(environment: Environment) -> tuple[tuple[Task, ...], ...]:
    tasks = environment.tasks
    return tuple(tasks.of(split) for split in SplitName)


def _some(environment: Environment) -> Iterator[Task]:
    """Yield the first tasks of every split, and some of what is drawn."""
    for tasks in _tasks(environment):
        yield from tasks[:_MOST_TASKS]
    draws = _members(environment).draws
    if draws is not None:
        yield from draws.draw(_SEEDS[0], _COUNT)


def _graded(environment: Environment, task: Task, reply: str) -> object:
    """Return what grading gave, or what it raised; an exception that is none of ours is a slip of the environment."""
    try:
        with Attributed(InternalError, f"Grading task {task.id!r}"):
            return environment.grade(task, reply)
    except SkilloptError as error:
        return error


def _group(environment: Environment, *, wrong: bool) -> Group:
    hard = 0.0 if wrong else 1.0
    attempts = tuple(
        Attempted(
            task=task,
            answer=Answered(task_id=task.id, trial=0, text=_MARK),
            score=Score(hard=hard, soft=hard),
        )
        for task in _some(environment)
    )
    return Group(skill=Skill.from_text(_SKILL + "\n"), wrong=wrong, attempts=attempts, edit_budget=3)
