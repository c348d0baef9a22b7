"""Jobs and endings for the tests of Claude Code, and the samples that the real program wrote."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from skillopt.agents.program import Ended, Job, Model
from skillopt.agents.settings import AgentSettings
from skillopt.domain.usage import Price
from skillopt.kernel.process import Finished
from tests.architecture.source_tree import ROOT

SAMPLES = ROOT.parent / "shared" / "samples" / "claude"
LIST_PRICE = Price(input=3.0, output=15.0, cached=0.3)
AGENT = AgentSettings()
MODEL = Model(name="claude-sonnet-4-5", base_url="http://127.0.0.1:9/v1", key="a-key", price=LIST_PRICE)
JOB = Job(prompt="Do it.", work="/job", home="/home/agent", model=MODEL, agent=AGENT, skill="tide-tables")


def sample(name: str) -> bytes:
    """Return what the real program wrote, or skip where the samples are not beside the repository."""
    if not SAMPLES.is_dir():
        pytest.skip(f"no samples of Claude Code: {SAMPLES} is not there")
    return (SAMPLES / name).read_bytes()


def ended(
    home: Path,
    stdout: bytes = b"",
    *,
    transcript: bytes | None = None,
    job: Job = JOB,
    exit_code: int = 0,
    stderr: bytes = b"",
) -> Ended:
    """Return an ending with this output and this transcript in the program's home."""
    if transcript is not None:
        folder = home / ".claude" / "projects" / "-job"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "some-session.jsonl").write_bytes(transcript)
    finished = Finished(
        exit_code=exit_code,
        stdout=stdout,
        stderr=stderr,
        stdout_truncated=False,
        stderr_truncated=False,
        timed_out=False,
        seconds=1.0,
    )
    return Ended(job=job, finished=finished, home=home)


def line(**fields: object) -> bytes:
    """Return one event."""
    return msgspec.json.encode(fields) + b"\n"


def result(**fields: object) -> bytes:
    """Return the event that ends a run, as it is when all went well, but for these fields."""
    good: dict[str, object] = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "terminal_reason": "completed",
        "num_turns": 1,
        "result": "Done.",
        "session_id": "some-session",
    }
    return line(**(good | fields))


def said(*blocks: dict[str, object], id: str = "msg_1", uuid: str = "u1", model: str = "m") -> bytes:
    """Return an event in which the model speaks."""
    return line(type="assistant", uuid=uuid, message={"id": id, "model": model, "content": list(blocks)})


def called(name: str, id: str, **given: object) -> dict[str, object]:
    """Return a block that calls a tool."""
    return {"type": "tool_use", "id": id, "name": name, "input": given}


def came(id: str, text: str = "", *, error: bool = False) -> bytes:
    """Return an event with the result of a call."""
    block = {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": error}
    return line(type="user", uuid=f"r-{id}", message={"role": "user", "content": [block]})
