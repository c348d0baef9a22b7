from __future__ import annotations

import asyncio
from pathlib import Path

from skillopt.app.planning.preview import Preview
from skillopt.app.workspace import JOURNAL, opened_journal
from skillopt.domain.chat import Reply
from skillopt.domain.usage import Usage
from skillopt.kernel.clock import SystemClock
from skillopt.kernel.journal import Intent, PhaseRecord, Ref, Result
from skillopt.store.reader import SqliteReader

KEY = b"k" * 16
ANSWER = Reply(text="four", usage=Usage(calls=1))


async def write(workspace: Path) -> Ref:
    async with opened_journal(workspace, SystemClock()) as journal:
        run = journal.open_run("run", b"plan")
        await journal.intend(run, Intent(attempt=1, key=KEY, role="target", worst=Usage(calls=1)))
        journal.settle(run, Result(attempt=1, key=KEY, charged=Usage(calls=1), value=ANSWER))
        ref = Ref(run.number, 1)
        journal.close_phase(run, PhaseRecord(path="start/baseline/val", outcomes=(ref,)))
        await journal.sync()
        return ref


def test_what_a_workspace_has_shines_through_and_nothing_is_written(tmp_path: Path) -> None:
    ref = asyncio.run(write(tmp_path))
    before = (tmp_path / JOURNAL).read_bytes()
    with SqliteReader(tmp_path / JOURNAL) as reader:
        preview = Preview(reader, clock=SystemClock())
        assert preview.plan("run") == b"plan"
        assert preview.plan("other") is None
        run = preview.open_run("run", b"plan")
        assert preview.find([KEY, b"x" * 16])[KEY].answer == ANSWER
        assert preview.fetch([ref])[ref].key == KEY
        known = preview.phase(run, "start/baseline/val")
        assert known is not None
        assert known.outcomes == (ref,)
        mine = PhaseRecord(path="start/other", outcomes=())
        preview.close_phase(run, mine)
        assert preview.phase(run, "start/other") == mine
        assert preview.phase(run, "start/none") is None
    assert (tmp_path / JOURNAL).read_bytes() == before
