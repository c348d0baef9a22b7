"""Reads runs of a workspace to hold them side by side.
Owns which records are read; refuses to know what is compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from skillopt.app.runs import summary_of
from skillopt.app.workspace import JOURNAL
from skillopt.domain.errors import UsageError
from skillopt.kernel.view import view_of, whole
from skillopt.store.reader import SqliteReader
from skillopt.train.comparison import Compared, Recorded, comparison


class _Contents(msgspec.Struct, frozen=True):
    """The digests of the tasks in a plan, by split."""

    path: dict[str, str]


class _Planned(msgspec.Struct, frozen=True):
    """What is read of a plan."""

    environment: _Contents


def compare(workspace: Path, names: Sequence[str]) -> tuple[Compared, ...]:
    """Return the runs of these names side by side, each but the first held against the first."""
    if len(set(names)) != len(names):
        raise UsageError("A run is named twice.", hint="Name different runs: skillopt runs list shows them.")
    return comparison([_recorded(workspace, name) for name in names])


def _recorded(workspace: Path, name: str) -> Recorded:
    summary = summary_of(workspace, name)
    with SqliteReader(workspace / JOURNAL) as reader:
        view, plan = view_of(whole(reader.events(name))), reader.plan(name)
    planned = None if plan is None else msgspec.json.decode(plan, type=_Planned)
    return Recorded(summary=summary, view=view, tests="" if planned is None else planned.environment.path["test"])
