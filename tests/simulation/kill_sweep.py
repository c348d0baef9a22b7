"""Kills a whole run over HTTP after its k-th journal append, runs the same command again, and compares what remains.

A program of its own, so that nothing but this process forks: every child is a fresh fork of an interpreter that has
everything imported, and the second child is the command line itself.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import skillopt.cli.train  # noqa: F401 - imported here, so that no child has to
from skillopt.app.environ import variables
from skillopt.app.project.prepare import prepare
from skillopt.app.session import train_session
from skillopt.app.workspace import JOURNAL
from skillopt.cli.main import main
from skillopt.kernel.clock import SystemClock
from skillopt.kernel.events import MetaSkillWritten, NotesTaken, SlowUpdated
from skillopt.kernel.view import view_of
from skillopt.store.reader import SqliteReader
from skillopt.store.sqlite import SqliteJournal

NAME = "sweep"
CONCURRENCY = 4  # as the config of the sweep has it: no more than this may be paid again


def remains(workspace: Path) -> tuple[bytes, bytes, str]:
    """Return what must be the same every time: the skill, the history, and the summary without what may differ."""
    folder = workspace / "runs" / NAME
    summary = json.loads((folder / "summary.json").read_bytes())
    summary.pop("wall_seconds")
    summary["usage"].pop("overhead")
    summary.pop("run_dir")
    summary.pop("best_skill")
    return (
        (folder / "best_skill.md").read_bytes(),
        (folder / "history.json").read_bytes(),
        json.dumps(summary, sort_keys=True),
    )


def forked(work: Callable[[], int]) -> int:
    """Do some work in a child and return how it ended: an exit code, or minus the signal that killed it."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            with Path(os.devnull).open("w") as nowhere:
                os.dup2(nowhere.fileno(), 1)
                os.dup2(nowhere.fileno(), 2)
                code = work()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def lived(config: Path, workspace: Path, after_append: Callable[[int], None]) -> int:
    """Train with a journal that tells after each append, each of them committed by itself."""

    async def run() -> int:
        clock = SystemClock()
        prepared = prepare(config, environ=variables(), workspace=workspace)
        journal = SqliteJournal(workspace / JOURNAL, clock=clock, after_append=after_append, group_limit=1)
        ended = await train_session(prepared, journal, clock, name=NAME, observers=(), started=lambda interrupt: None)
        await journal.close()
        return 0 if ended.error is None else ended.error.exit_code

    return asyncio.run(run())


def command(config: Path, workspace: Path) -> int:
    """Run the command line."""
    return main(["train", str(config), "--workspace", str(workspace), "--run", NAME])


def appends(config: Path, workspace: Path) -> int:
    """Count the appends of an undisturbed run."""
    counted = workspace / "appends"
    workspace.mkdir(parents=True)

    def count(number: int) -> None:
        counted.write_text(str(number))

    ended = forked(lambda: lived(config, workspace, count))
    if ended:
        sys.exit(f"the undisturbed run ended with {ended}")
    return int(counted.read_text())


def kinds(workspace: Path) -> dict[str, list[str]]:
    """Return of what kinds the undisturbed run was: which stages it asked, what its steps and its epochs came to."""
    with SqliteReader(workspace / JOURNAL) as reader:
        events = reader.events(NAME)
    told = {
        "stages": view_of(events).stages,
        "actions": [each["action"] for each in json.loads((workspace / "runs" / NAME / "history.json").read_bytes())],
        "guidance": [each.action for each in events if isinstance(each, SlowUpdated)],
        "advice": [each.action for each in events if isinstance(each, MetaSkillWritten)],
        "reminders": ["some" if each.added else "none" for each in events if isinstance(each, NotesTaken)],
    }
    return {name: sorted(set(words)) for name, words in told.items()}


def killed_at(config: Path, workspace: Path, point: int) -> tuple[bytes, bytes, str]:
    """Kill a run at a point, run the command again, and return what remains."""

    def kill(number: int) -> None:
        if number == point:
            os.kill(os.getpid(), signal.SIGKILL)

    workspace.mkdir(parents=True)
    ended = forked(lambda: lived(config, workspace, kill))
    if ended != -signal.SIGKILL:
        sys.exit(f"at append {point} the run ended with {ended}, not by SIGKILL")
    ended = forked(lambda: command(config, workspace))
    if ended:
        sys.exit(f"after the kill at append {point} the command ended with {ended}")
    found = remains(workspace)
    usage = json.loads((workspace / "runs" / NAME / "summary.json").read_bytes())["usage"]
    paid_again = usage["overhead"]["attempts"] - usage["total"]["calls"]
    if not paid_again == usage["overhead"]["lost"] <= CONCURRENCY:
        sys.exit(f"after the kill at append {point} {paid_again} calls were paid again; lost: {usage['overhead']}")
    shutil.rmtree(workspace)
    return found


def sweep(config: Path, scratch: Path, first: int, stride: int) -> int:
    """Kill at every `stride`-th append from `first` on; print how many there were and where it differed."""
    reference = scratch / f"reference-{first}"
    total = appends(config, reference)
    expected = remains(reference)
    different = [
        point
        for point in range(first, total + 1, stride)
        if killed_at(config, scratch / f"killed-{point}", point) != expected
    ]
    points = len(range(first, total + 1, stride))
    found = {"appends": total, "points": points, "different": different, "kinds": kinds(reference)}
    sys.stdout.write(json.dumps(found))
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(sweep(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])))
