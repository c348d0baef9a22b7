"""Which adapter speaks for which backend: the one list of the agent programs there are.
Owns the list and whose key each program's own provider takes; refuses to look for any of them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from skillopt.agents.claude_code.adapter import ClaudeCode
from skillopt.agents.codex.adapter import Codex
from skillopt.agents.program import Adapter

_ALL: tuple[Adapter, ...] = (Codex(), ClaudeCode())
ADAPTERS: Mapping[str, Adapter] = MappingProxyType({adapter.name: adapter for adapter in _ALL})
