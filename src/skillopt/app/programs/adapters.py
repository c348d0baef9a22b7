"""Which adapter speaks for which backend: the one list of the agent programs there are.
Owns the list and whose key each program's own provider takes; refuses to look for any of them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from skillopt.agents.claude_code.adapter import ClaudeCode
from skillopt.agents.codex.adapter import Codex
from skillopt.agents.copilot.adapter import Copilot
from skillopt.agents.cursor.adapter import Cursor
from skillopt.agents.opencode.adapter import OpenCode
from skillopt.agents.program import Adapter

_ALL: tuple[Adapter, ...] = (Codex(), ClaudeCode(), Copilot(), OpenCode(), Cursor())
ADAPTERS: Mapping[str, Adapter] = MappingProxyType({adapter.name: adapter for adapter in _ALL})
