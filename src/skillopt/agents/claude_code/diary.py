"""The transcript that Claude Code keeps of a run in its home.
Owns where it is; refuses to read what is no plain file below that home, because an agent can write there."""

from __future__ import annotations

import re
from pathlib import Path

from skillopt.agents.claude_code.starting import CONFIG
from skillopt.agents.telling.lines import left_file

_SESSION = re.compile(r"[0-9A-Za-z-]{1,64}")


def diary(home: Path, session: str) -> bytes:
    """Return the transcript of a session, or of the only one there is where its name is not known; else nothing."""
    name = session if _SESSION.fullmatch(session) else "*"
    try:
        root = (home / CONFIG / "projects").resolve(strict=True)
        found = [path for path in root.glob(f"*/{name}.jsonl") if path.parent.resolve() == path.parent]
        if len(found) != 1 or not root.is_relative_to(home.resolve()):
            return b""
        return left_file(home, found[0])
    except OSError:  # without it the events on the output are all there is
        return b""
