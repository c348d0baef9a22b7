"""A thousand secrets come in by every door of a whole training, and none is in any byte that is kept or shown.

Doors: tasks, the seed skill, both models' replies, providers' errors, the environment, and keys a config refers to.
The same sweep with a scrubber that does nothing finds all of them, so the search is no sham.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import logging
import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest

from skillopt.app.project.prepare import prepare
from skillopt.cli.main import main
from skillopt.cli.train import run_training, show_ended
from skillopt.domain.seeds import dice
from skillopt.testing.secrets import Planted, planted

COUNT = 1000
CALM, FAILING = 200, 100  # tasks that are answered, and tasks for which the provider has only an error
TRAIN = 160  # the calm ones that are shown to the optimizer; the others are val and test
LONGEST_WORDS = 120  # what a provider says is shortened in a message; a shortened secret would not be found as such
MARK = re.compile(r"\[case (\d+)\]")


class Doors(NamedTuple):
    """Which secrets come in where."""

    tasks: tuple[Planted, ...]
    replies: tuple[Planted, ...]
    edits: tuple[Planted, ...]
    errors: tuple[Planted, ...]
    skill: tuple[Planted, ...]
    variables: tuple[tuple[str, str], ...]
    references: tuple[tuple[str, str], ...]

    @property
    def values(self) -> tuple[str, ...]:
        every = (*self.tasks, *self.replies, *self.edits, *self.errors, *self.skill)
        return (*(one.value for one in every), *(value for _, value in (*self.variables, *self.references)))


def doors(seed: int = 7) -> Doors:
    """Share a thousand secrets out."""
    everyone = list(planted(seed, COUNT - 100))
    short = [one for one in everyone if len(one.line) <= LONGEST_WORDS and one.line.isprintable()]
    errors = short[::2][:FAILING]
    rest = [one for one in everyone if one not in errors]
    passwords = [f"{draw.choice('bcdfgh')}{draw.getrandbits(60):x}q" for draw in (dice("sweep", n) for n in range(100))]
    return Doors(
        errors=tuple(errors),
        tasks=tuple(rest[:CALM]),
        replies=tuple(rest[CALM:600]),
        edits=tuple(rest[600:700]),
        skill=tuple(rest[700:]),
        variables=tuple((f"SWEEP_{number}_PASSWORD", value) for number, value in enumerate(passwords[:98])),
        references=(("SWEEP_TARGET", passwords[98]), ("SWEEP_HEADER", passwords[99])),
    )


def task_row(number: int, doors: Doors) -> dict[str, object]:
    """Return a task that has its secret in one of its texts; references are shown for train tasks only."""
    row: dict[str, object] = {"id": f"case-{number}", "input": f"[case {number}] What is this?", "reference": "nothing"}
    if number >= CALM:
        return row
    line = doors.tasks[number].line
    places = ("context", "checks", "reference", "id") if number < TRAIN else ("context", "checks", "input", "id")
    match places[number % 4]:
        case "context":
            row["context"] = line
        case "checks":
            row["checks"] = [{"op": "contains", "arg": line}]
        case "id":
            row |= {"id": f"case-{number} {line}", "type": line}
        case place:
            row[place] = f"{row['input']}\n{line}\n" if place == "input" else line
    return row


class Model:
    """Both models in one: says secrets of its own, and repeats whatever it is told."""

    def __init__(self, doors: Doors) -> None:
        self._doors = doors
        self._spoken = 0
        self._lock = threading.Lock()

    def answer(self, body: bytes, headers: str) -> tuple[int, str]:
        """Return a status, and what is said with it."""
        request = json.loads(body)
        told = "\n".join(message["content"] for message in request["messages"])
        if request["model"] == "opt":
            return 200, self._proposal(told)
        case = MARK.search(told)
        number = int(case[1]) if case else 0
        doors = self._doors
        if number >= CALM:
            return 400, doors.errors[number - CALM].line
        mine = [one.line for one in doors.replies[number::CALM]]
        seen = [value for _, value in doors.variables[number::CALM]]
        return 200, "\n\n".join([told, *mine, f"It is {' or '.join(seen)}.", headers])

    def _proposal(self, told: str) -> str:
        with self._lock:
            first, self._spoken = self._spoken, self._spoken + 10
        lines = [one.line for one in self._doors.edits[first : first + 10]]
        edits = [{"op": "append", "content": line, "target": ""} for line in lines]
        return json.dumps({"patch": {"reasoning": told, "edits": edits}})


@contextmanager
def served(model: Model) -> Iterator[str]:
    """Serve a model over HTTP and yield its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            sent = " ".join(value for name, value in self.headers.items() if name.lower() in {"authorization", "x-key"})
            status, said = model.answer(body, sent)
            message = {"role": "assistant", "content": said}
            reply: dict[str, object] = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
            if status != 200:
                reply = {"error": {"message": said, "type": "invalid_request_error"}}
            data = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(data)))
            self.send_header("x-request-id", sent[-60:])
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def config(url: str) -> dict[str, object]:
    model = {
        "backend": "openai",
        "base_url": url,
        "headers": {"x-key": "${SWEEP_HEADER}"},
        "api_key": "${SWEEP_TARGET}",
    }
    return {
        "skill": "SKILL.md",
        "environment": {"path": "tasks"},
        "models": {"target": {**model, "model": "target"}, "optimizer": {**model, "model": "opt"}},
        "train": {"epochs": 1, "batch_size": 300},
        "reflect": {
            "minibatch_size": 10,
            "show_references": True,
            "transcript_tokens": 250_000,
            "prompt_tokens": 3_000_000,
        },
        "optimizer": {"schedule": "unlimited"},
        "gate": {"rule": "force", "max_failed": 1.0},
        "stop": {"when": "never"},
        "retry": {"attempts": 2, "first_wait": 0.0},
    }


def write(folder: Path, doors: Doors, url: str) -> Path:
    """Write the project: tasks with and without errors in train, the others in val and test."""
    tasks = folder / "tasks"
    tasks.mkdir()
    rows = [json.dumps(task_row(number, doors)) + "\n" for number in range(CALM + FAILING)]
    (tasks / "train.jsonl").write_text("".join([*rows[:TRAIN], *rows[CALM:]]))
    (tasks / "val.jsonl").write_text("".join(rows[TRAIN : TRAIN + 20]))
    (tasks / "test.jsonl").write_text("".join(rows[TRAIN + 20 : CALM]))
    (folder / "SKILL.md").write_text("# House style\n\n" + "".join(f"{one.line}\n\n" for one in doors.skill))
    path = folder / "skillopt.yaml"
    path.write_text(json.dumps(config(url)))
    return path


def spellings(value: str) -> list[bytes]:
    """Return how a value may be written: as it is, as JSON writes it, and inside base64 at each alignment."""
    raw = value.encode()
    cores = [
        base64.b64encode(b"\0" * shift + raw)[(0, 2, 3)[shift] : (shift + len(raw)) * 8 // 6] for shift in range(3)
    ]
    return list(dict.fromkeys([raw, json.dumps(value)[1:-1].encode(), *cores]))


def found(values: Sequence[str], kept: Sequence[bytes]) -> list[str]:
    return [value for value in values if any(one in data for one in spellings(value) for data in kept)]


def lived(folder: Path, doors: Doors, scrub: Callable[[str], str] | None) -> dict[str, bytes]:
    """Train over HTTP, export and show; return every byte that was kept or said, by where it is."""
    out, err, log = io.StringIO(), io.StringIO(), io.StringIO()
    handler = logging.StreamHandler(log)
    logging.getLogger().addHandler(handler)
    try:
        with served(Model(doors)) as url, redirect_stdout(out), redirect_stderr(err):
            path = write(folder, doors, url)
            prepared = prepare(path, environ={}, scrub=scrub)
            for warning in prepared.plan.tasks.warnings:
                sys.stderr.write(f"warning: {warning}\n")
            ended = asyncio.run(run_training(prepared, name="sweep", fresh=False))
            show_ended(ended, as_json=False)
            show_ended(ended, as_json=True)
            workspace = str(prepared.workspace)
            for command in (["list"], ["show", "sweep"], ["show", "sweep", "--json"], ["export", "sweep"]):
                assert main(["runs", *command, "--workspace", workspace]) == 0
    finally:
        logging.getLogger().removeHandler(handler)
    assert ended.error is None
    files = {str(file): file.read_bytes() for file in prepared.workspace.rglob("*") if file.is_file()}
    said = {"stdout": out.getvalue().encode(), "stderr": err.getvalue().encode(), "log": log.getvalue().encode()}
    return files | said


@pytest.fixture(scope="module")
def secrets() -> Doors:
    return doors()


@pytest.fixture(autouse=True)
def environment(secrets: Doors, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (*secrets.variables, *secrets.references):
        monkeypatch.setenv(name, value)


def test_there_are_a_thousand_of_many_kinds(secrets: Doors) -> None:
    every = (*secrets.tasks, *secrets.replies, *secrets.edits, *secrets.errors, *secrets.skill)
    assert len(secrets.values) == len(set(secrets.values)) == COUNT
    assert len({one.kind for one in every}) >= 100
    assert all(
        len(part) >= 50 for part in (secrets.tasks, secrets.replies, secrets.edits, secrets.errors, secrets.skill)
    )


def test_not_one_of_them_is_kept_or_shown(secrets: Doors, tmp_path: Path) -> None:
    kept = lived(tmp_path, secrets, None)
    for place, data in kept.items():
        leaked = found(secrets.values, [data])
        assert not leaked, f"{len(leaked)} in {place}: {leaked[:5]}"
    everything = b"".join(kept.values())
    assert everything.count(b"[SECRET:") > COUNT
    assert b"holds what looks like a secret" in kept["stderr"]


def test_the_same_sweep_without_a_scrubber_finds_all_of_them(secrets: Doors, tmp_path: Path) -> None:
    kept = lived(tmp_path, secrets, str)
    missing = set(secrets.values) - set(found(secrets.values, list(kept.values())))
    assert not missing, (
        f"{len(missing)} were never kept, so nothing is shown by not finding them: {sorted(missing)[:5]}"
    )
