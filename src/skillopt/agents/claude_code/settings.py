"""The section of a config for a model behind Claude Code.
Owns what this program cannot do of what every agent program is asked for; refuses to know how it is started."""

from __future__ import annotations

from skillopt.agents.settings import CliSettings

EFFORTS = ("low", "medium", "high", "xhigh", "max")


class ClaudeCodeSettings(
    CliSettings, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="claude_code", tag_field="backend"
):
    """A model behind Claude Code, Anthropic's agent: as an agent, or asked once, which needs a key.

    Where a base_url is given, it speaks Anthropic's messages, and the login of your own Claude Code is never used.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.wire not in {None, "messages"}:
            raise ValueError("Claude Code speaks no wire but messages")
        if self.effort not in {None, *EFFORTS}:
            raise ValueError(f"Claude Code's effort is one of {', '.join(EFFORTS)}")
