"""What Claude Code may do in a folder: from the settings of an agent to the program's tools and permission rules.
Owns the names of its tools; refuses to know how else it is started."""

from __future__ import annotations

import msgspec

from skillopt.agents.settings import AgentSettings
from skillopt.domain.errors import UsageError, unknown_name

READING = ("Read", "Glob", "Grep")
CHANGING = ("Edit", "Write", "Bash")
SKILL = "Skill"
MODES = ("acceptEdits", "auto", "dontAsk", "manual", "plan")
_OURS = "dontAsk"  # what no rule allows is denied at once: nobody is there to be asked
_BYPASS = "bypassPermissions"
_WRITERS = ("Edit", "Write", "NotebookEdit", "Bash")
_FETCH, _SEARCH = "WebFetch", "WebSearch"


class Permits(msgspec.Struct, frozen=True, kw_only=True):
    """The program's permission mode, the rules of what it may do unasked, and the tools it must not have.

    A rule is the name of a tool, or the name with a pattern in parentheses, which allows some of its uses only.
    """

    mode: str
    allowed: tuple[str, ...]
    forbidden: tuple[str, ...]

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools that are offered to the model; there are no others."""
        return tuple(dict.fromkeys(rule.partition("(")[0] for rule in self.allowed))


def permits(settings: AgentSettings) -> Permits:
    """Return what an agent with these settings may do; what they ask for and forbid at once is a UsageError."""
    forbidden = _forbidden(settings)
    if settings.tools is None:
        allowed = _usual(settings)
    else:
        allowed = settings.tools
        refused = sorted(set(allowed) & set(forbidden))
        if refused:
            raise UsageError(
                f"agent.tools names {', '.join(refused)}, which {_why(refused[0])} forbids.", hint="Change one of them."
            )
        if settings.skill == "native" and not any(rule.startswith(SKILL) for rule in allowed):
            allowed = (*allowed, SKILL)
    return Permits(mode=_mode(settings), allowed=allowed, forbidden=forbidden)


def _usual(settings: AgentSettings) -> tuple[str, ...]:
    """Return the tools that reading, editing and a shell take; a skill that is told of is read like any file."""
    return (
        *READING,
        *(CHANGING if settings.files == "edit" else ()),
        *((SKILL,) if settings.skill == "native" else ()),
        *((_FETCH,) if settings.network else ()),
        *((_SEARCH,) if settings.web_search else ()),
    )


def _forbidden(settings: AgentSettings) -> tuple[str, ...]:
    """Return the tools that the settings rule out; a shell bound to some commands is the person's own choice."""
    bound = any(rule.startswith("Bash(") for rule in settings.tools or ())
    return (
        *(() if settings.network else (_FETCH,)),
        *(() if settings.web_search else (_SEARCH,)),
        *(name for name in _WRITERS if settings.files == "read" and not (bound and name == "Bash")),
    )


def _why(tool: str) -> str:
    return {_FETCH: "agent.network: false", _SEARCH: "agent.web_search: false"}.get(tool, "agent.files: read")


def _mode(settings: AgentSettings) -> str:
    wanted = settings.permission
    if wanted == _BYPASS:
        raise UsageError(
            f"agent.permission: {_BYPASS} is not offered: it would lift every check at once.",
            hint="Name what the agent may use in agent.tools; what is named there is never asked for.",
        )
    if wanted is not None and wanted not in MODES:
        raise unknown_name("agent.permission of Claude Code", wanted, MODES)
    return wanted or _OURS
