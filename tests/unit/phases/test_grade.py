from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from skillopt.domain.agency.errands import Errand
from skillopt.domain.agency.transcripts import LeftFile, Transcript
from skillopt.domain.chat import Reply
from skillopt.domain.errors import CrashedError, TaskError, UsageError
from skillopt.domain.judging import Agreement, Unassessed, Unjudged, written
from skillopt.domain.rollouts import Answered, Failed, Failure, Rollout
from skillopt.domain.scores import Score
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import Check, Task
from skillopt.domain.usage import NOTHING, Usage
from skillopt.environments.command.settings import CommandSettings
from skillopt.environments.dataset import Dataset, DatasetSettings
from skillopt.kernel.events import PhaseBegan, TaskScore
from skillopt.kernel.run import Run
from skillopt.kernel.work import Asker
from skillopt.phases.grade import Grades, Grading, Rulings, facts_of, grade, mean_of, means_by_type
from skillopt.phases.judging.marking import Judge
from skillopt.phases.judging.settings import JudgeSettings
from skillopt.testing.scripted import ScriptedChat
from tests.simulation.house import house
from tests.unit.kernel.bench import Bench, Notebook
from tests.unit.phases.judging.judges import Say, judge_who

TASKS = tuple(
    Task(id=name, input=name, reference="yes", type=kind) for name, kind in (("a", "x"), ("b", "y"), ("c", "x"))
)


def nobody_asks(_asked: str, _before: int) -> object:
    raise AssertionError("nobody is asked")


class Moody(Dataset):
    """Cannot grade one of the tasks."""

    def grade(self, task: Task, reply: str) -> Score | Unjudged | Unassessed:
        """Score an answer."""
        if reply == "?":
            raise TaskError("There is no telling.")
        return super().grade(task, reply)


def moody() -> Moody:
    return Moody(DatasetSettings(path="tasks"), house().environment.tasks)


def grades(
    tasks: Sequence[Task], rollouts: Sequence[Rollout], says: Say = nobody_asks, *, observers: Sequence[Notebook] = ()
) -> Grades:
    """Grade with a judge who says this."""
    bench = Bench(ScriptedChat(judge_who(says), model="judge"))
    judge = Judge(asker=Asker(verb="judge", role="judge", chat=bench.chat, max_tokens=200), settings=JudgeSettings())

    async def work(run: Run) -> Grades:
        return await grade(run, "val", Grading(environment=moody(), judge=judge), tasks, rollouts)

    return bench.live(work, observers=observers)


def failed(name: str) -> Failed:
    return Failed(task_id=name, trial=0, failure=Failure(kind="UnavailableError", who="provider", message="m"))


def answered(name: str, text: str) -> Answered:
    return Answered(task_id=name, trial=0, text=text)


def test_a_wrong_answer_is_zero_and_a_failure_is_nothing() -> None:
    board = grades(TASKS, [answered("a", "no"), failed("b"), answered("c", "?")]).board
    assert [None if row.score is None else row.score.hard for row in board.rows] == [0.0, None, None]
    assert [row.cause for row in board.rows] == [None, "UnavailableError", "There is no telling."]
    mean = mean_of(board)
    assert (mean.hard, mean.n, mean.failed) == (0.0, 1, 2)


def test_nothing_measured_has_no_mean_and_no_interval() -> None:
    mean = mean_of(grades(TASKS[:1], [failed("a")]).board)
    assert (mean.hard, mean.soft, mean.low, mean.high, mean.n, mean.failed) == (None, None, None, None, 0, 1)


def test_facts_keep_zero_and_none_apart() -> None:
    facts = facts_of(grades(TASKS[:2], [answered("a", "no"), failed("b")]).board)
    assert (facts[0].hard, facts[0].cause) == (0.0, "")
    assert facts[1] == TaskScore("b", 0, None, None, "", "UnavailableError")


def test_means_by_type_leave_failures_out() -> None:
    board = grades(TASKS, [answered("a", "yes"), answered("b", "no"), failed("c")]).board
    means = means_by_type(board, {"a": "x", "b": "y", "c": "x"})
    assert {name: (mean.hard, mean.n, mean.failed) for name, mean in means.items()} == {
        "x": (1.0, 1, 1),
        "y": (0.0, 1, 0),
    }


JUDGED = (
    Task(id="ruled", input="q", reference="yes"),
    Task(id="judged", input="q", rubric="Is it kind?"),
    Task(id="both", input="q", reference="yes", rubric="Is it kind?"),
    Task(id="silent", input="q", rubric="Is it kind?"),
)


def test_a_rubric_is_judged_and_everything_keeps_its_place() -> None:
    rollouts: list[Rollout] = [
        answered("ruled", "yes"),
        answered("judged", "dear"),
        answered("both", "yes"),
        failed("silent"),
    ]
    found = grades(JUDGED, rollouts, lambda asked, _: {"score": 0.9 if "dear" in asked else 0.3})
    rows = [None if row.score is None else (row.score.hard, row.score.soft) for row in found.board.rows]
    assert rows == [(1.0, 1.0), (1.0, 0.9), (0.0, 0.65), None]
    assert [row.task_id for row in found.board.rows] == ["ruled", "judged", "both", "silent"]
    assert found.board.cause == "UnavailableError"
    assert found.agreement == Agreement(answers=2)


def test_a_judge_who_fails_leaves_no_score_and_never_a_zero() -> None:
    found = grades(JUDGED[1:3], [answered("judged", "dear"), answered("both", "yes")], lambda _asked, _: None)
    assert [row.score for row in found.board.rows] == [None, None]
    assert all(row.cause is not None and row.cause.startswith("judge: ") for row in found.board.rows)
    assert (found.board.hard, found.board.failed) == (None, 2)


def test_where_nothing_is_left_to_a_judge_there_is_no_phase() -> None:
    notebook = Notebook()
    found = grades(JUDGED[:2], [answered("ruled", "yes"), answered("judged", "  ")], observers=[notebook])
    assert [row.score is not None for row in found.board.rows] == [True, True]
    assert found.agreement is None
    assert not [fact for fact in notebook.facts if isinstance(fact, PhaseBegan)]


class Shelf:
    """Scores answers by a table; what is not on it breaks the program."""

    def __init__(self, scores: dict[str, Score]) -> None:
        self.scores = scores
        self.asked: list[str] = []
        self.shown: dict[str, tuple[str, ...]] = {}

    def work(self, task: Task, answer: str, files: Sequence[LeftFile] = ()) -> Looking:
        """Return the work of looking an answer up; what an agent left beside it is remembered."""
        self.shown[answer] = tuple(file.path for file in files)
        return Looking(f"{task.id} {answer}".encode(), self, answer)


class Looking(msgspec.Struct, frozen=True):
    """Looking one answer up."""

    key: bytes
    shelf: Shelf
    answer: str
    role: str = ""
    account: str = "shelf"

    def worst(self) -> Usage:
        """Nothing."""
        return NOTHING

    async def perform(self) -> Reply:
        """Look."""
        self.shelf.asked.append(self.answer)
        if self.answer not in self.shelf.scores:
            raise CrashedError("The command grader ended with 3.")
        return Reply(text=written(self.shelf.scores[self.answer]), usage=NOTHING)


COMMANDED = (
    Task(id="a", input="q"),
    Task(id="b", input="q", checks=(Check("contains", "y"),)),
    Task(id="c", input="q", rubric="Is it kind?"),
    Task(id="d", input="q"),
    Task(id="e", input="q"),
    Task(id="f", input="q", rubric="Is it kind?"),
)


def test_a_program_scores_its_part_and_what_it_cannot_score_has_a_cause_and_no_score() -> None:
    settings = DatasetSettings(path="tasks", grader="command", command=CommandSettings(run=("sh",)))
    shelf = Shelf({"no": Score(hard=0.0, soft=0.5, feedback="Half."), "yes": Score(hard=1.0, soft=1.0)})
    bench = Bench(ScriptedChat(judge_who(lambda asked, _: {"score": 0.9}), model="judge"))
    judge = Judge(asker=Asker(verb="judge", role="judge", chat=bench.chat, max_tokens=200), settings=JudgeSettings())
    grading = Grading(environment=Dataset(settings, house().environment.tasks), judge=judge, assessor=shelf)
    rollouts: list[Rollout] = [
        answered("a", "yes"),
        answered("b", "no"),
        answered("c", "yes"),
        failed("d"),
        answered("e", " "),
    ]
    rollouts.append(answered("f", "broken"))
    seen = Notebook()

    async def work(run: Run) -> Grades:
        return await grade(run, "val", grading, COMMANDED, rollouts)

    found = bench.live(work, observers=[seen])
    rows = [None if row.score is None else (row.score.hard, row.score.soft) for row in found.board.rows]
    assert rows == [(1.0, 1.0), (0.0, 0.25), (1.0, 0.95), None, (0.0, 0.0), None]
    assert found.board.rows[3].cause == "UnavailableError"
    assert found.board.rows[5].cause == "command: The command grader ended with 3."
    assert found.agreement == Agreement(answers=1)
    assert [fact.path for fact in seen.facts if isinstance(fact, PhaseBegan)] == ["val/command", "val/judge"]
    assert sorted(shelf.asked) == ["broken", "no", "yes", "yes"]
    assert bench.live(work) == found
    assert sorted(shelf.asked) == ["broken", "no", "yes", "yes"]


class Yard(Dataset):
    """Looks at what an agent did besides what it said."""

    def errand(self, task: Task, skill: Skill) -> Errand:
        """Return an errand that nobody is sent on."""
        return Errand(instruction=str(task.input), skill=skill)

    def grade_work(self, task: Task, reply: str, transcript: Transcript) -> Unassessed | Score:
        """Leave files to a program; with none, the work is worth nothing."""
        if not transcript.files:
            return Score(hard=0.0, soft=0.0, feedback=f"{task.id} left nothing")
        return Unassessed(answer=reply, files=transcript.files)


def test_what_an_agent_did_is_graded_and_the_program_is_shown_what_it_left() -> None:
    yard = Yard(DatasetSettings(path="tasks"), house().environment.tasks)
    shelf = Shelf({"done": Score(hard=1.0, soft=1.0)})
    bench = Bench(ScriptedChat("echo"))
    judge = Judge(asker=bench.asker, settings=JudgeSettings())
    grading = Grading(environment=yard, judge=judge, assessor=shelf, work=yard)
    did = Transcript(program="mender 1", files=(LeftFile(path="out/a.txt", size=1, text="a"),))
    rollouts: list[Rollout] = [
        msgspec.structs.replace(answered("a", "done"), transcript=did),
        msgspec.structs.replace(answered("b", "done"), transcript=Transcript(program="mender 1")),
        answered("c", "yes"),
    ]

    async def work(run: Run) -> Grades:
        return await grade(run, "val", grading, TASKS, rollouts)

    first, second, third = bench.live(work).board.rows
    assert first.score == Score(hard=1.0, soft=1.0)
    assert second.score == Score(hard=0.0, soft=0.0, feedback="b left nothing")
    assert third.score == yard.grade(TASKS[2], "yes")
    assert shelf.shown == {"done": ("out/a.txt",)}


class Counting(Moody):
    """Counts what it grades, and cannot go on at one answer."""

    graded = 0

    def grade(self, task: Task, reply: str) -> Score | Unjudged | Unassessed:
        """Score an answer."""
        self.graded += 1
        if reply == "!":
            raise UsageError("The graders are gone.")
        return super().grade(task, reply)


def ruling(environment: Counting) -> Rulings:
    chat = ScriptedChat("echo", model="judge")
    judge = Judge(asker=Asker(verb="judge", role="judge", chat=chat, max_tokens=200), settings=JudgeSettings())
    return Rulings(Grading(environment=environment, judge=judge))


def test_what_was_seen_early_is_ruled_on_once_and_all_the_same() -> None:
    environment = Counting(DatasetSettings(path="tasks"), house().environment.tasks)
    rulings = ruling(environment)
    rollouts: list[Rollout] = [
        Answered(task_id="a", trial=0, text="<answer>yes</answer>"),
        Answered(task_id="b", trial=0, text="?"),
        Failed(task_id="c", trial=0, failure=Failure(kind="X", who="provider", message="no")),
    ]
    pairs = list(zip(TASKS, rollouts, strict=True))
    plain = [ruling(environment).of(place, *pair) for place, pair in enumerate(pairs)]
    before = environment.graded
    for place, pair in enumerate(pairs):
        rulings.see(place, *pair)
    assert [rulings.of(place, *pair) for place, pair in enumerate(pairs)] == plain
    assert environment.graded - before == 2


def test_an_error_that_ends_the_run_waits_until_its_turn() -> None:
    rulings = ruling(Counting(DatasetSettings(path="tasks"), house().environment.tasks))
    answer = Answered(task_id="a", trial=0, text="!")
    rulings.see(0, TASKS[0], answer)
    with pytest.raises(UsageError, match="The graders are gone"):
        rulings.of(0, TASKS[0], answer)
