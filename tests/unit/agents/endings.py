"""Jobs and endings for the tests of several agents' adapters, and the samples that the real programs wrote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from skillopt.agents.program import Ended, Job, Model
from skillopt.agents.settings import AgentSettings
from skillopt.domain.usage import Price
from skillopt.kernel.process import Finished
from tests.architecture.source_tree import ROOT

SAMPLES = ROOT.parent / "shared" / "samples"
MODEL = Model(name="scripted-1", base_url="http://127.0.0.1:9/v1", key="a-key", price=Price(input=1.0, output=10.0))
JOB = Job(prompt="Do it.", work="/job", home="/home/agent", model=MODEL, agent=AgentSettings(), skill="tide-claude")
_EVERY_BYTE = 3000
_STRIDE = 7


def sample(program: str, name: str) -> bytes:
    """Return what the real program wrote, or skip where the samples are not beside the repository."""
    if not SAMPLES.is_dir():
        pytest.skip(f"no samples of agents' programs: {SAMPLES} is not there")
    return (SAMPLES / program / name).read_bytes()


def prefixes(whole: bytes) -> Iterator[bytes]:
    """Yield beginnings: cut at every byte of the first ones and the last, and at every seventh between."""
    tail = max(_EVERY_BYTE, len(whole) - _EVERY_BYTE // 10)
    places = (range(min(_EVERY_BYTE, len(whole))), range(_EVERY_BYTE, tail, _STRIDE), range(tail, len(whole) + 1))
    for cuts in places:
        yield from (whole[:cut] for cut in cuts)


class How(msgspec.Struct, frozen=True, kw_only=True):
    """How a program ended."""

    exit_code: int = 0
    stderr: bytes = b""
    timed_out: bool = False


STOPPED = How(exit_code=-15, timed_out=True)
FAILED = How(exit_code=1)


def ended(home: Path, stdout: bytes = b"", how: How = How(), *, job: Job = JOB) -> Ended:
    """Return an ending with this output."""
    finished = Finished(
        exit_code=how.exit_code,
        stdout=stdout,
        stderr=how.stderr,
        stdout_truncated=False,
        stderr_truncated=False,
        timed_out=how.timed_out,
        seconds=1.0,
    )
    return Ended(job=job, finished=finished, home=home)


def lines(*events: dict[str, object]) -> bytes:
    """Return events as a program writes them."""
    return b"".join(msgspec.json.encode(event) + b"\n" for event in events)


def agent_job(**agent: object) -> Job:
    """Return a job for an agent with these settings, confined if they say so."""
    settings = msgspec.convert(agent, AgentSettings)
    return msgspec.structs.replace(JOB, agent=settings, confined=settings.sandbox != "none")
