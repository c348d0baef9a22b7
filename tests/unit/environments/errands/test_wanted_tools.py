from __future__ import annotations

from pathlib import Path

import pytest

from skillopt.domain.agency.transcripts import Transcript
from skillopt.domain.errors import UsageError
from skillopt.domain.scores import Score
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import Check, Task, TaskSet
from skillopt.environments.dataset import Dataset, DatasetSettings
from skillopt.environments.errands.dataset import AgentDataset, wanted_tools


def wanting(name: str, *tools: str) -> Task:
    return Task(id=name, input="Which berth?", checks=tuple(Check("tool_called", tool) for tool in tools))


def environment(*tasks: Task) -> AgentDataset:
    dataset = Dataset(DatasetSettings(path="unused", answer="full"), TaskSet(train=tasks[:1], val=tasks[1:]))
    return AgentDataset.of(dataset, Path(), {})


@pytest.mark.parametrize(
    ("tools", "says"),
    [
        (("/etc/cron.d/job",), "Task 'bad' wants a tool named '/etc/cron.d/job', which is no name for a program."),
        (("$(id)",), "Task 'bad' wants a tool named '$(id)', which is no name"),
        (("git",), "Task 'bad' wants a tool named 'git', which is a usual command already."),
        (("lookup", "Lookup"), "Task 'bad' wants the tool 'lookup' in several spellings."),
    ],
)
def test_a_name_that_cannot_be_a_tool_is_said_with_its_task_before_anything_runs(
    tools: tuple[str, ...], says: str
) -> None:
    with pytest.raises(UsageError) as refused:
        environment(wanting("good", "lookup"), wanting("bad", *tools))
    assert says in str(refused.value)
    assert "tool_called" in str(refused.value)


def test_each_tool_is_wanted_by_the_first_task_that_names_it() -> None:
    tasks = TaskSet(train=(wanting("a", "lookup"),), val=(wanting("b", "lookup", "tides", "tides"),))
    assert wanted_tools(tasks) == {"lookup": "a", "tides": "b"}


def test_an_agent_has_a_tool_for_each_and_only_a_call_counts() -> None:
    task = wanting("a", "lookup", "tides")
    agent = environment(task)
    assert agent.errand(task, Skill.from_text("Look.")).shims == ("lookup", "tides")
    words = "TOOL_CALL: lookup\nTOOL_CALL: tides\nBerth 4."
    hard = {
        shims: score.hard
        for shims in ((), ("lookup",), ("tides", "lookup", "tides"))
        if isinstance(score := agent.grade_work(task, words, Transcript(program="codex 1", shims=shims)), Score)
    }
    assert hard == {(): 0.0, ("lookup",): 0.0, ("tides", "lookup", "tides"): 1.0}
