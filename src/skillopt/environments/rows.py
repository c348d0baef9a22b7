"""Task files: JSONL, JSON arrays and CSV, row by row.
Owns the file formats and the naming of every bad row; refuses to know splits, graders and prompts."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from skillopt.domain.errors import UsageError, unknown_name
from skillopt.domain.tasks import Task

_NAMED = 10  # how many bad rows a message names before it only counts
_BOM = b"\xef\xbb\xbf"
_JSON_COLUMNS = frozenset({"checks", "files", "images"})
_MESSAGE_KEYS = ("role", "content")  # the images of a task stand beside its input
_DECODER = msgspec.json.Decoder(Task)

Refuse = Callable[[Task], str | None]


class TaskRows(NamedTuple):
    """The tasks of a file, in order, and what was odd about it."""

    tasks: tuple[Task, ...]
    warnings: tuple[str, ...]


def read_rows(path: Path, refuse: Refuse) -> TaskRows:
    """Return the tasks of a file. `refuse` says what is wrong with a task, or None; all bad rows are named together."""
    if path.suffix not in _READERS:
        raise unknown_name("task file type", path.suffix, _READERS)
    found = _Found(path, refuse)
    try:
        _READERS[path.suffix](path, found)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", hint="Check the path and its rights.") from error
    return found.rows()


def suffixes() -> tuple[str, ...]:
    """Return the endings of files that can be read."""
    return tuple(_READERS)


class _Found:
    """The good and the bad rows of one file so far."""

    def __init__(self, path: Path, refuse: Refuse) -> None:
        self._path = path
        self._refuse = refuse
        self._tasks: list[Task] = []
        self._problems: list[str] = []
        self._warnings: list[str] = []

    def row(self, place: str, row: bytes | msgspec.Raw, *, may_be_torn: bool = False) -> None:
        """Take one row of JSON."""
        try:
            task = _DECODER.decode(row)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            self._unreadable(place, row, error, may_be_torn=may_be_torn)
        else:
            stray = None if isinstance(task.input, str) else _stray_message_key(row)
            self.task(place, task) if stray is None else self.bad(place, stray)

    def _unreadable(self, place: str, row: bytes | msgspec.Raw, error: Exception, *, may_be_torn: bool) -> None:
        """Tell a row that is cut off or is no JSON from one that is JSON and not a task."""
        try:
            document = msgspec.json.decode(row)
        except UnicodeDecodeError:
            self.bad(place, "not UTF-8")
        except (msgspec.DecodeError, RecursionError) as malformed:
            if may_be_torn:
                self._warnings.append(f"{self._path} {place} is cut off in the middle and was left out.")
            else:
                self.bad(place, f"not valid JSON ({malformed})")
        else:
            self.bad(place, _explained(document, error))

    def task(self, place: str, task: Task) -> None:
        """Take one decoded task."""
        problem = self._refuse(task)
        if problem is None:
            self._tasks.append(task)
        else:
            self.bad(place, problem)

    def bad(self, place: str, problem: str) -> None:
        """Take note of a row that cannot be used."""
        self._problems.append(f"{self._path} {place}: {problem}")

    def rows(self) -> TaskRows:
        """Return the tasks if every row was good."""
        if self._problems:
            count = len(self._problems)
            shown = "\n".join(self._problems[:_NAMED])
            more = f"\n… and {count - _NAMED} more bad rows." if count > _NAMED else ""
            raise UsageError(f"{shown}{more}", hint="Correct or remove these rows, and run the same command again.")
        return TaskRows(tuple(self._tasks), tuple(self._warnings))


def _read_jsonl(path: Path, found: _Found) -> None:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            row = line.removeprefix(_BOM) if number == 1 else line
            if row.strip():
                found.row(f"line {number}", row, may_be_torn=not line.endswith(b"\n"))


def _read_array(path: Path, found: _Found) -> None:
    try:
        rows = msgspec.json.decode(path.read_bytes().removeprefix(_BOM), type=list[msgspec.Raw])
    except msgspec.ValidationError:
        found.bad("line 1", "a .json file holds one array of rows; use .jsonl for one row a line")
    except (msgspec.DecodeError, RecursionError) as error:
        found.bad("as a whole", f"not valid JSON ({error})")
    else:
        for number, row in enumerate(rows, 1):
            found.row(f"row {number}", row)


def _read_table(path: Path, found: _Found) -> None:
    with path.open(encoding="utf-8-sig", newline="") as lines:
        reader = csv.reader(lines, strict=True)
        try:
            columns = next(reader, [])
            problem = _column_problem(columns)
            if problem is not None:
                found.bad("line 1", problem)
                return
            first_line = reader.line_num + 1
            for cells in reader:
                if cells:
                    _take_cells(columns, cells, f"line {first_line}", found)
                first_line = reader.line_num + 1
        except csv.Error as error:
            found.bad(f"line {reader.line_num}", f"not a CSV row ({error})")
        except UnicodeDecodeError:
            found.bad(f"after line {reader.line_num}", "not UTF-8")


def _column_problem(columns: list[str]) -> str | None:
    for column in columns:
        if column not in Task.__struct_fields__:
            return str(unknown_name("column", column, Task.__struct_fields__))
        if columns.count(column) > 1:
            return f"column {column!r} stands there twice"
    return None


def _take_cells(columns: list[str], cells: list[str], place: str, found: _Found) -> None:
    """Take one row of a table: an empty cell is no value; checks, files and images are JSON, all else is text."""
    if len(cells) != len(columns):
        found.bad(place, f"{len(cells)} cells where the first line names {len(columns)} columns")
        return
    row: dict[str, object] = {}
    for column, cell in zip(columns, cells, strict=True):
        try:
            if cell:
                row[column] = msgspec.json.decode(cell) if column in _JSON_COLUMNS else cell
        except (msgspec.DecodeError, RecursionError):
            found.bad(place, f"column {column!r} is not valid JSON")
            return
    found.row(place, msgspec.json.encode(row))


def _explained(document: object, error: Exception) -> str:
    """Return what is wrong with a row in the words of its author."""
    if not isinstance(document, dict):
        return "a row is a JSON object"
    for key in document:
        if key not in Task.__struct_fields__:
            return str(unknown_name("key", key, Task.__struct_fields__))
    return str(error)


def _stray_message_key(row: bytes | msgspec.Raw) -> str | None:
    """Return what is wrong when a message of a conversation has a key that would be dropped."""
    for message in msgspec.json.decode(row)["input"]:
        for key in message:
            if key not in _MESSAGE_KEYS:
                return str(unknown_name("message key", key, _MESSAGE_KEYS))
    return None


_READERS: Mapping[str, Callable[[Path, _Found], None]] = MappingProxyType(
    {".jsonl": _read_jsonl, ".json": _read_array, ".csv": _read_table}
)
