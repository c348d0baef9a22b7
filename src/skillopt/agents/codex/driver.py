"""A program of its own, where the agent runs: does one job by openai-codex-sdk, and tells it in Codex's own lines.
Owns the way from the SDK's events back to lines; refuses to judge them, so that one reader hears both ways.
Run as `python -I driver.py < job.json`, or with `--about`; imports the standard library and the SDK only."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import openai_codex_sdk as sdk
from openai_codex_sdk.errors import CodexSdkError

_PACKAGE = Path(sdk.__file__).parent
_ENDS = ("turn.completed", "turn.failed")


def main() -> None:
    """Say what is here, or do the job on the input; after a turn that it told the end of the program has ended well."""
    if sys.argv[1:] == ["--about"]:
        folders = [sys.prefix, sys.base_prefix, str(_PACKAGE.parent)]
        sys.stdout.write(json.dumps({"version": _version(), "folders": folders}))
        return
    sys.exit(asyncio.run(_drive(json.load(sys.stdin.buffer))))


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
    except (CodexSdkError, ValueError) as error:  # the second of a line that is longer than the SDK reads
        return None if ended else f"{type(error).__name__}: {error}"
    return None if ended else "The SDK ended without the end of a turn."


def _version() -> str:
    """Return the SDK's version by the name of its installation, which is the one place that has it."""
    places = sorted(_PACKAGE.parent.glob(f"{_PACKAGE.name}-*.dist-info"))
    return places[-1].name.removeprefix(f"{_PACKAGE.name}-").removesuffix(".dist-info") if places else "unknown"


if __name__ == "__main__":
    main()
