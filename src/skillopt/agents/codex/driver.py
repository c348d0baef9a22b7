"""A program of its own, where the agent runs: does one job by openai-codex-sdk, and tells it in Codex's own lines.
Owns the way from the SDK's events back to lines; refuses to judge them, so that one reader hears both ways.
Run as `python -I driver.py < job.json`, or with `--about`; imports the standard library and the SDK only."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import SubprocessStreamProtocol
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import openai_codex_sdk as sdk
from openai_codex_sdk.errors import CodexSdkError

_PACKAGE = Path(sdk.__file__).parent
_ENDS = ("turn.completed", "turn.failed")
_LONGEST_LINE = 32 << 20  # bytes; a command's whole output is one line

_Word: TypeAlias = Any  # as asyncio has it in the signature that is overridden

if sys.platform == "win32":
    _Loop = asyncio.ProactorEventLoop
else:
    _Loop = asyncio.SelectorEventLoop


class _Roomy(_Loop):
    """Gives processes that are read by lines room for long ones: at a line of 64 KB the SDK would wait without end."""

    async def subprocess_exec(self, protocol_factory: object, program: _Word, *args: _Word, **kwargs: _Word) -> _Word:
        """Start it as ever, with another reader."""
        del protocol_factory
        made = partial(SubprocessStreamProtocol, limit=_LONGEST_LINE, loop=self)
        return await super().subprocess_exec(made, program, *args, **kwargs)


def main() -> None:
    """Say what is here, or do the job on the input; after a turn that it told the end of the program has ended well."""
    if sys.argv[1:] == ["--about"]:
        found = {"prefixes": [sys.prefix, sys.base_prefix], "packages": str(_PACKAGE.parent)}
        sys.stdout.write(json.dumps({"version": _version(), **found}))
        return
    with asyncio.Runner(loop_factory=_Roomy) as runner:
        ended = runner.run(_drive(json.load(sys.stdin.buffer)))
    sys.exit(ended)


async def _drive(job: dict[str, object]) -> str | None:
    """Print each event as it comes; an error after the end of the turn repeats what the event says."""
    ended = False
    try:
        thread = sdk.Codex(job["codex"]).start_thread(job["thread"])
        streamed = await thread.run_streamed(job["input"], job["turn"])
        async for event in streamed.events:
            ended = ended or event.type in _ENDS
            sys.stdout.write(json.dumps(event.model_dump(exclude_none=True)) + "\n")
            sys.stdout.flush()
    except (CodexSdkError, ValueError) as error:  # the second of what the SDK cannot read
        return None if ended else f"{type(error).__name__}: {error}"
    return None if ended else "The SDK ended without the end of a turn."


def _version() -> str:
    """Return the SDK's version by the name of its installation, which is the one place that has it."""
    places = sorted(_PACKAGE.parent.glob(f"{_PACKAGE.name}-*.dist-info"))
    return places[-1].name.removeprefix(f"{_PACKAGE.name}-").removesuffix(".dist-info") if places else "unknown"


if __name__ == "__main__":
    main()
