from __future__ import annotations

import asyncio
import stat
from pathlib import Path

import pytest

from skillopt.app.workspace import JOURNAL, opened_journal, run_name
from skillopt.domain.errors import StoreError
from skillopt.kernel.clock import SystemClock


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_workspace_is_its_owners_alone_and_stays_out_of_repositories(tmp_path: Path) -> None:
    workspace = tmp_path / "deep" / ".skillopt"

    async def open_and_close() -> None:
        async with opened_journal(workspace, SystemClock()):
            assert (workspace / JOURNAL).is_file()

    asyncio.run(open_and_close())
    assert mode(workspace) == 0o700
    assert mode(workspace / JOURNAL) == 0o600
    assert (workspace / ".gitignore").read_text() == "*\n"
    assert mode(workspace / ".gitignore") == 0o600


def test_what_was_recorded_is_kept_when_the_block_raises(tmp_path: Path) -> None:
    async def broken() -> None:
        async with opened_journal(tmp_path, SystemClock()) as journal:
            journal.open_run("one", b"plan")
            raise StoreError("Broken on purpose.")

    async def again() -> bytes | None:
        async with opened_journal(tmp_path, SystemClock()) as journal:
            journal.open_run("one", b"plan")  # the lock was let go of
            return journal.plan("one")

    with pytest.raises(StoreError, match="on purpose"):
        asyncio.run(broken())
    assert asyncio.run(again()) == b"plan"


def test_a_fresh_name_is_the_first_that_no_run_has(tmp_path: Path) -> None:
    async def names() -> list[str]:
        found = []
        async with opened_journal(tmp_path, SystemClock()) as journal:
            found.append(run_name(journal, "a", fresh=True))
            for name in ("a", "a-2", "a-4"):
                journal.open_run(name, b"plan")
            found += [run_name(journal, "a", fresh=fresh) for fresh in (False, True)]
            found.append(run_name(journal, "b", fresh=True))
        return found

    assert asyncio.run(names()) == ["a", "a", "a-3", "b"]
