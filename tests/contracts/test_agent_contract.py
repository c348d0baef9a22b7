from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path

import pytest

from skillopt.agents.runner import CliAgent
from skillopt.agents.settings import AgentSettings
from skillopt.kernel.ports import Agent
from skillopt.testing.agents.broken import BROKEN_AGENTS
from skillopt.testing.agents.contract import AgentContract, Does
from skillopt.testing.agents.scripted import ScriptedAgent
from skillopt.testing.chat_contract import broken_promises
from skillopt.testing.clock import run_virtual
from skillopt.testing.conversation import BrainReply, Conversation
from skillopt.testing.faults import FaultKind
from tests.unit.agents.programs import team

BREAKS = {
    "TakesACrashForAnAnswer": "test_a_program_that_broke_gave_no_answer",
    "RaisesPlainErrors": "test_a_program_that_broke_gave_no_answer",
    "BlamesTheProgram": "test_what_a_provider_refused_is_its_error_and_not_tried_again",
    "TriesARefusalAgain": "test_what_a_provider_refused_is_its_error_and_not_tried_again",
    "AnswersAtTheDeadline": "test_a_run_ends_at_its_deadline",
    "LeavesRunsBehind": "test_a_cancelled_run_is_cancelled_and_leaves_nothing",
    "MixesUpErrands": "test_many_at_once_get_their_own_answers",
    "TellsNothing": "test_an_answer_says_what_was_done_for_it",
    "PromisesTooLittle": "test_worst_is_an_upper_bound",
    "ChangesItsName": "test_identity_is_constant",
}
FAULTS: dict[Does, FaultKind] = {
    "breaks": FaultKind.CRASH,
    "hangs": FaultKind.HANG,
    "is_refused": FaultKind.AUTH,
}


def scripted(does: Does) -> ScriptedAgent:
    def brain(conversation: Conversation) -> BrainReply:
        text = "" if does == "says_nothing" else conversation.asked
        return BrainReply(text=text, fault=FAULTS.get(does))

    return ScriptedAgent(brain, timeout=3.0)


class Suspect(AgentContract):
    """An agent in this process, perhaps with a fault."""

    def __init__(self, factory: Callable[[ScriptedAgent], Agent]) -> None:
        self.factory = factory
        self.inner = scripted("echoes")

    def make(self, does: Does) -> Agent:
        self.inner = scripted(does)
        return self.factory(self.inner)

    def starts(self) -> int:
        return self.inner.runs

    def left(self) -> tuple[str, ...]:
        return ("a run",) * self.inner.in_flight

    def run(self, main: Coroutine[object, object, None]) -> None:
        run_virtual(main)


class TestScriptedAgent(AgentContract):
    inner: ScriptedAgent

    def make(self, does: Does) -> Agent:
        self.inner = scripted(does)
        return self.inner

    def starts(self) -> int:
        return self.inner.runs

    def left(self) -> tuple[str, ...]:
        return ("a run",) * self.inner.in_flight

    def run(self, main: Coroutine[object, object, None]) -> None:
        run_virtual(main)


DOES: dict[Does, str] = {
    "echoes": "print(pathlib.Path('task.md').read_text(encoding='utf-8'))",
    "says_nothing": "pass",
    "breaks": "print('42', flush=True); sys.exit(1)",
    "hangs": "print('42', flush=True)\nos.fork()\nwhile True: time.sleep(60)",
    "is_refused": "print(json.dumps({'problem': {'cause': 'auth', 'message': 'no', 'status': 401}})); sys.exit(1)",
}


class TestCliAgent(AgentContract):
    """The runner over a real program, which notes each of its starts with its process and its folders."""

    folder: Path

    @pytest.fixture(autouse=True)
    def in_a_folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def make(self, does: Does) -> Agent:
        self.notes = self.folder / does
        self.notes.mkdir()
        note = (
            f"os.environ['PYTHONUTF8'] = '1'; sys.stdout.reconfigure(encoding='utf-8')\n"
            f"note = pathlib.Path({str(self.notes)!r}, str(os.getpid()))\n"
            "note.with_suffix('.new').write_text(f\"{os.environ['WORK']}\\n{pathlib.Path.home()}\")\n"
            "note.with_suffix('.new').rename(note)\n"
        )
        settings = AgentSettings(timeout=3.0 if does == "hangs" else 60.0)
        return CliAgent(team(self.folder / f"of-{does}", note + DOES[does]), settings, self.folder)

    def starts(self) -> int:
        return len(self._noted())

    def left(self) -> tuple[str, ...]:
        processes = [note.name for note in self._noted() if Path("/proc", note.name).exists()]
        folders = [place for note in self._noted() for place in note.read_text().split("\n") if Path(place).exists()]
        return (*processes, *folders)

    def _noted(self) -> list[Path]:
        return [note for note in self.notes.iterdir() if note.name.isdigit()]


@pytest.mark.parametrize("name", sorted(BROKEN_AGENTS))
def test_each_broken_agent_is_caught_by_the_promise_it_breaks(name: str) -> None:
    assert BREAKS[name] in broken_promises(Suspect(BROKEN_AGENTS[name]))


def test_a_sound_agent_breaks_no_promise() -> None:
    assert broken_promises(Suspect(lambda inner: inner)) == ()
