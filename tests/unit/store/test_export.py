from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from skillopt.domain.errors import StoreError, UsageError
from skillopt.kernel.clock import SystemClock
from skillopt.kernel.events import Event, Mean, Measured, RunEnded, TaskScore, Warned
from skillopt.kernel.journal import PhaseRecord
from skillopt.store.export import export_run, import_run
from skillopt.store.reader import SqliteReader
from skillopt.store.sqlite import SqliteJournal
from skillopt.testing.journals.stage import FAILURE, PLAN, reply, send

MEAN = Mean(hard=1, soft=None, n=2, low=0.1, high=1e-17)
EVENTS: tuple[Event, ...] = (
    Warned(message='quotes " and \\ and\nlines, 日本, \0'),
    Measured(
        label="best",
        split="val",
        skill_digest="d",
        mean=MEAN,
        by_type={"z": MEAN, "a": MEAN},
        rows=(TaskScore("t", 0, 1.0, 0.5), TaskScore("u", 0, None, None, "", "AuthError")),
    ),
    Warned(message="wide " * 10_000),
    RunEnded(
        stop_reason="solved",
        best_digest="d",
        last_digest="d",
        best_origin="step 1",
        best_step=1,
        current_origin="step 1",
        claimed_val=None,
    ),
)


async def tell(path: Path) -> None:
    """Two runs: `mine` uses answers of its own, one of them not the first to its key, and one of `other`."""
    journal = SqliteJournal(path, clock=SystemClock())
    other, mine = journal.open_run("other", PLAN), journal.open_run("mine", PLAN)
    theirs = await send(journal, other, 1, b"theirs", reply("theirs"))
    await send(journal, other, 2, b"unused", reply("unused"))
    await send(journal, mine, 1, b"lost", None)
    second = await send(journal, mine, 3, b"theirs", reply("second"))
    failed = await send(journal, mine, 4, b"twice", FAILURE)
    first = await send(journal, mine, 5, b"twice", reply("first " * 10_000))
    await send(journal, mine, 6, b"twice", reply("again"), early=True)
    for number, event in enumerate(EVENTS):
        journal.append(mine, number, event)
    journal.close_phase(mine, PhaseRecord(path="z/rollout", outcomes=(theirs, FAILURE, first, theirs)))
    journal.close_phase(mine, PhaseRecord(path="a/grade", outcomes=(second,)))
    assert failed != first
    await journal.sync()
    journal.end_session(mine, "stopped", "calls")
    await journal.close()
    journal = SqliteJournal(path, clock=SystemClock())
    await send(journal, journal.open_run("mine", PLAN), 7, b"late", None)
    await journal.close()


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "from" / "journal.sqlite3"
    asyncio.run(tell(path))
    return path


def answers(viewer: SqliteReader) -> list[tuple[str, list[object]]]:
    """What each phase of the run used, by content: runs may be numbered otherwise."""
    told: list[tuple[str, list[object]]] = []
    for record in viewer.phases("mine"):
        refs = [each for each in record.outcomes if not hasattr(each, "kind")]
        stored = viewer.fetch(refs)
        told.append(
            (
                record.path,
                [(stored[each].key, stored[each].answer) if each in stored else each for each in record.outcomes],
            )
        )
    return told


@pytest.mark.parametrize("busy", [False, True])
def test_a_round_trip_changes_nothing(tmp_path: Path, journal: Path, busy: bool) -> None:
    target = tmp_path / "to" / "journal.sqlite3"
    if busy:
        # all the numbers of the exported runs are taken here
        asyncio.run(tell(target))
        asyncio.run(rename(target))
    assert import_run(export_run(journal, "mine"), target) == "mine"
    with SqliteReader(journal) as before, SqliteReader(target) as after:
        assert after.plan("mine") == PLAN
        assert after.events("mine") == before.events("mine") == EVENTS
        assert answers(after) == answers(before)
        assert after.spent("mine") == before.spent("mine")
        if not busy:
            assert after.phases("mine") == before.phases("mine")
            assert after.find([b"twice"])[b"twice"].answer == reply("first " * 10_000)
            assert after.find([b"theirs"])[b"theirs"].answer == reply("theirs")
            assert after.find([b"unused", b"lost"]) == {}
            assert [row.name for row in after.runs()] == ["mine"]
            assert list(export_run(target, "mine")) == list(export_run(journal, "mine"))


async def rename(path: Path) -> None:
    """Make room for a run called `mine` without giving up its number."""
    journal = SqliteJournal(path, clock=SystemClock())
    journal.remove_run("mine")
    journal.open_run("third", PLAN)
    await journal.close()


def test_an_imported_run_goes_on(tmp_path: Path, journal: Path) -> None:
    target = tmp_path / "to" / "journal.sqlite3"
    import_run(export_run(journal, "mine"), target)

    async def main() -> None:
        again = SqliteJournal(target, clock=SystemClock())
        with pytest.raises(UsageError, match="another plan"):
            again.open_run("mine", b"another")
        mine = again.open_run("mine", PLAN)
        assert (mine.session, mine.next_attempt) == (3, 8)
        for number, event in enumerate(EVENTS):
            again.append(mine, number, event)
        with pytest.raises(StoreError, match="diverged"):
            again.append(mine, 0, Warned(message="new"))
        await again.close()

    asyncio.run(main())


def test_lines_are_json_that_people_can_search(journal: Path) -> None:
    lines = [json.loads(line) for line in export_run(journal, "mine")]
    assert [line["line"] for line in (lines[0], lines[-1])] == ["run", "end"]
    assert lines[-1]["lines"] == len(lines) - 1
    assert [line["event"]["event"] for line in lines if line["line"] == "event"] == [
        "warned",
        "measured",
        "warned",
        "run_ended",
    ]


def test_an_unknown_run_is_not_exported(journal: Path) -> None:
    with pytest.raises(UsageError, match="Did you mean 'mine'"):
        list(export_run(journal, "mines"))


def test_a_run_is_not_imported_over_another(journal: Path) -> None:
    lines = list(export_run(journal, "mine"))
    with pytest.raises(UsageError, match="has a run 'mine' already"):
        import_run(lines, journal)


@pytest.mark.parametrize(
    ("kept", "why"),
    [
        (slice(0, 0), "cut off"),
        (slice(0, 1), "cut off"),
        (slice(0, -1), "cut off"),
        (slice(1, None), "first line is not the run"),
        (slice(None, None, 2), "it has .* lines of"),
    ],
)
def test_half_a_run_is_not_imported(tmp_path: Path, journal: Path, kept: slice, why: str) -> None:
    lines = list(export_run(journal, "mine"))
    target = tmp_path / "to" / "journal.sqlite3"
    lines = lines[kept] if lines[-1] in lines[kept] or kept.step is None else [*lines[kept], lines[-1]]
    with pytest.raises(UsageError, match=why):
        import_run(lines, target)
    with SqliteReader(target) as viewer:
        assert viewer.runs() == ()
        assert viewer.find([b"theirs", b"twice"]) == {}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("", "line 2 is not understood"),
        ("{", "line 2 is not understood"),
        ('{"line": "music"}', "line 2 is not understood.*music"),
        ('{"line": "event", "number": 0, "at": 1.0, "event": {"event": "warned"}}', "line 2 is not understood"),
        ('{"line": "end", "lines": 1}', "more than one run"),
    ],
)
def test_a_line_that_is_not_understood_is_named(tmp_path: Path, journal: Path, line: str, why: str) -> None:
    lines = list(export_run(journal, "mine"))
    with pytest.raises(UsageError, match=why):
        import_run([lines[0], line, *lines[1:]], tmp_path / "to" / "journal.sqlite3")


def test_a_name_from_outside_is_checked(tmp_path: Path, journal: Path) -> None:
    lines = list(export_run(journal, "mine"))
    lines[0] = lines[0].replace('"mine"', '"../mine"')
    with pytest.raises(UsageError, match="cannot be the name of a run"):
        import_run(lines, tmp_path / "to" / "journal.sqlite3")
