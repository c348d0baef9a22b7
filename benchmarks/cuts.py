"""`python -m benchmarks.cuts [SAMPLES]`: what real agents' programs wrote, cut at every byte and heard.
Owns where each file lies when it is read, and the count of what crashed or was taken for another answer; refuses to
know what a file means. It takes minutes, so that the adapters' own tests cut the large files at some bytes only."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from types import MappingProxyType

import msgspec

from skillopt.agents.claude_code.adapter import ClaudeCode
from skillopt.agents.codex.adapter import Codex
from skillopt.agents.copilot.adapter import Copilot
from skillopt.agents.opencode.adapter import OpenCode
from skillopt.agents.program import Adapter, Ended, Heard, Job, Model
from skillopt.agents.settings import AgentSettings
from skillopt.kernel.process import Finished

_SAMPLES = Path(__file__).resolve().parents[2] / "shared" / "samples"
_ADAPTERS: Mapping[str, Adapter] = MappingProxyType(
    {"claude": ClaudeCode(), "codex": Codex(), "copilot": Copilot(), "opencode": OpenCode()}
)
# what a program leaves in its home, by how the sample's name begins; everything else was its output
_LEFT: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("claude", "session_"): ".claude/projects/-job/some-session.jsonl",
        ("codex", "rollout_"): ".codex/sessions/2026/11/19/rollout-x.jsonl",
        ("copilot", "session_events_"): ".copilot/session-state/a-session/events.jsonl",
    }
)
_JOB = Job(
    prompt="Do it.",
    work="/job",
    home="/home/agent",
    model=Model(name="some-model", base_url="http://127.0.0.1:9/v1", key=None),
    agent=AgentSettings(),
    skill="tide-tables",
)


class Cuts(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one file: how often it was cut, what crashed, and cuts that were taken for another answer."""

    file: str
    cuts: int
    crashes: tuple[str, ...] = ()
    other_answers: int = 0
    seconds: float = 0.0


class Total(msgspec.Struct, frozen=True, kw_only=True):
    """The sums over all files."""

    files: int
    cuts: int
    crashes: int
    other_answers: int
    seconds: float


def cut(path: Path, home: Path) -> Cuts:
    """Have the adapter hear every beginning of a file, from nothing to the whole, as of a program that ended well."""
    whole, began = path.read_bytes(), perf_counter()
    answer = _heard(path, whole, home).text
    crashes: list[str] = []
    others = 0
    for end in range(len(whole) + 1):
        try:
            heard = _heard(path, whole[:end], home)
        except Exception as error:  # noqa: BLE001  which is what is counted here
            crashes.append(f"at byte {end}: {type(error).__name__}: {error}")
            continue
        others += heard.problem is None and heard.text != answer
    return Cuts(
        file=f"{path.parent.name}/{path.name}",
        cuts=len(whole) + 1,
        crashes=tuple(crashes),
        other_answers=others,
        seconds=round(perf_counter() - began, 1),
    )


def _heard(path: Path, data: bytes, home: Path) -> Heard:
    program = path.parent.name
    places = [place for (whose, start), place in _LEFT.items() if whose == program and path.name.startswith(start)]
    for place in places:
        left = home / place
        left.parent.mkdir(parents=True, exist_ok=True)
        left.write_bytes(data)
    finished = Finished(
        exit_code=0,
        stdout=b"" if places else data,
        stderr=b"",
        stdout_truncated=False,
        stderr_truncated=False,
        timed_out=False,
        seconds=1.0,
    )
    return _ADAPTERS[program].heard(Ended(job=_JOB, finished=finished, home=home))


def main() -> int:
    """Cut every file; print a line for each, the sums last, and fail if there was a crash."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cuts", description=__doc__)
    parser.add_argument("samples", nargs="?", type=Path, default=_SAMPLES, help="a folder with one for each program")
    samples = parser.parse_args().samples
    paths = [path for program in sorted(_ADAPTERS) for path in sorted((samples / program).glob("*"))]
    if not paths:
        sys.stderr.write(f"There are no samples in {samples}.\n")
        return 2
    done: list[Cuts] = []
    for path in paths:
        with tempfile.TemporaryDirectory() as home:
            done.append(cut(path, Path(home)))
        _tell(done[-1])
    total = Total(
        files=len(done),
        cuts=sum(each.cuts for each in done),
        crashes=sum(len(each.crashes) for each in done),
        other_answers=sum(each.other_answers for each in done),
        seconds=round(sum(each.seconds for each in done), 1),
    )
    _tell(total)
    return 1 if total.crashes else 0


def _tell(line: Cuts | Total) -> None:
    sys.stdout.write(msgspec.json.encode(line).decode() + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
