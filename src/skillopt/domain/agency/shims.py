"""The names of tools that exist for one task only: programs that an agent can call, and that do nothing but be counted.
Owns which names may become programs; refuses to know how they are made and how their calls are logged."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

MOST_SHIMS, LONGEST_NAME = 32, 32
NAMING = (
    f"A tool's name is 1 to {LONGEST_NAME} letters, digits, _ and -, and no command that there is already. Rename it in"
    " the check tool_called."
)
_NAME = re.compile(rf"[A-Za-z0-9_-]{{1,{LONGEST_NAME}}}")
# a program with such a name is never started: a shell does this by itself
_OF_THE_SHELL = """
alias autoload bg bind break builtin caller case cd command compgen complete compopt continue coproc declare dirs disown
do done echo elif else enable esac eval exec exit export false fc fg fi for function getopts hash help history if in
jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return select set shift shopt source
suspend test then time times trap true type typeset ulimit umask unalias unset until wait while
"""
# what agents start without being told; more of this kind is found on PATH, when it is known where they run
_OF_AGENTS = """
apply_patch awk bash cat chmod claude codex copilot cp curl cut dash date diff env find fish git grep head id ls make
mkdir mktemp mv node npm npx opencode patch perl pip ps python python3 realpath rg rm sed sh sleep sort stat tail tee
touch tr uname wc which xargs zsh
"""
# names that Windows takes for devices, whatever their ending
_OF_WINDOWS = ("con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10)))
_TAKEN = frozenset((*_OF_THE_SHELL.split(), *_OF_AGENTS.split(), *_OF_WINDOWS))


def refusal(names: Sequence[str]) -> str | None:
    """Return why these cannot be the tools of one task, or None; what differs by case only is one name."""
    if len(names) > MOST_SHIMS:
        return f"{len(names)} tools, and a task has at most {MOST_SHIMS}"
    counts = Counter(name.casefold() for name in names)
    for name in names:
        if not _NAME.fullmatch(name):
            return f"a tool named {name[: 2 * LONGEST_NAME]!r}, which is no name for a program"
        if name.casefold() in _TAKEN:
            return f"a tool named {name!r}, which is a usual command already"
        if counts[name.casefold()] > 1:
            return f"the tool {name!r} in several spellings"
    return None
