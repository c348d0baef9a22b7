"""The transcript that Claude Code keeps of a run in its home.
Owns where it is; refuses to read what is no plain file below that home, because an agent can write there."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from skillopt.agents.claude_code.starting import CONFIG

LONGEST = 64 << 20
_SESSION = re.compile(r"[0-9A-Za-z-]{1,64}")
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def diary(home: Path, session: str) -> bytes:
    """Return the transcript of a session, or of the only one there is where its name is not known; else nothing."""
    name = session if _SESSION.fullmatch(session) else "*"
    try:
        root = (home / CONFIG / "projects").resolve(strict=True)
        found = [path for path in root.glob(f"*/{name}.jsonl") if path.parent.resolve() == path.parent]
        if len(found) != 1 or not root.is_relative_to(home.resolve()):
            return b""
        return _read(found[0])
    except OSError:  # without it the events on the output are all there is
        return b""


def _read(path: Path) -> bytes:
    handle = os.open(path, _FLAGS)
    with os.fdopen(handle, "rb") as file:
        return file.read(LONGEST) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
