"""A program of its own, where the agent runs: does one job by claude-agent-sdk, and tells it in Claude Code's lines.
Owns the way from the SDK's messages back to lines; refuses to judge them, so that one reader hears both ways.
Run as `python -I driver.py < job.json`, or with `--about`; imports the standard library and the SDK only."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys
from pathlib import Path

import claude_agent_sdk as sdk

_BLOCKS = {
    "TextBlock": "text",
    "ThinkingBlock": "thinking",
    "ToolUseBlock": "tool_use",
    "ToolResultBlock": "tool_result",
}
_OF_A_MESSAGE = {"message_id": "id", "model": "model", "usage": "usage", "stop_reason": "stop_reason"}


def main() -> None:
    """Say what is here, or do the job on the input; after a result of its own the program has ended well."""
    if sys.argv[1:] == ["--about"]:
        found = {"prefixes": [sys.prefix, sys.base_prefix], "packages": str(Path(sdk.__file__).parent.parent)}
        sys.stdout.write(json.dumps({"version": sdk.__version__, **found}))
        return
    job = json.load(sys.stdin.buffer)
    sys.exit(asyncio.run(_drive(job["prompt"], sdk.ClaudeAgentOptions(**job["options"]))))


async def _drive(prompt: str, options: sdk.ClaudeAgentOptions) -> str | None:
    """Print each message as it comes; an error after the result repeats what the result says."""
    ended = False
    try:
        async for message in sdk.query(prompt=prompt, options=options):
            line = _line(message)
            ended = ended or line.get("type") == "result"
            sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()
    except sdk.ClaudeSDKError as error:
        return None if ended else f"{type(error).__name__}: {error}"
    return None if ended else "The SDK ended without a result."


def _line(message: object) -> dict[str, object]:
    """Return the line that a message was read from, as far as the SDK tells it; an empty one of a new kind."""
    match type(message).__name__:
        case "AssistantMessage" | "UserMessage" as kind:
            return _said(kind.removesuffix("Message").lower(), message)
        case "ResultMessage":
            told = _fields(message)
            told["modelUsage"] = told.pop("model_usage", None)
            return {"type": "result", **told}
    data = getattr(message, "data", None)  # what the program says of itself is passed on whole
    return data if isinstance(data, dict) else {}


def _said(kind: str, message: object) -> dict[str, object]:
    told = _fields(message)
    content = told.pop("content", None)
    inner = {line: told.pop(field) for field, line in _OF_A_MESSAGE.items() if field in told}
    inner["content"] = content if isinstance(content, str) else _blocks(getattr(message, "content", []))
    return {"type": kind, **told, "message": inner}


def _blocks(blocks: list[object]) -> list[dict[str, object]]:
    known = ((_BLOCKS.get(type(block).__name__), block) for block in blocks)
    return [{"type": kind, **_fields(block)} for kind, block in known if kind is not None]


def _fields(value: object) -> dict[str, object]:
    assert dataclasses.is_dataclass(value)
    assert not isinstance(value, type)
    return dataclasses.asdict(value)


if __name__ == "__main__":
    main()
