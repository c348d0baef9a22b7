"""What an agent that attempts tasks may do, and which program and model answers: two sections of a config.
Owns these keys and their checks; refuses to know how any program is told about them."""

from __future__ import annotations

from typing import Literal

import msgspec

from skillopt.domain.usage import Price

CliName = Literal["codex", "claude_code", "copilot", "opencode", "cursor"]


class AgentSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Config section `agent`: how the target works where the environment is of `kind: agent`.

    mode: How the program is driven: by its command line, by its maker's SDK, or by the SDK if there is one.
    skill: `native` leaves finding the skill to the agent; `told` says in the prompt where it is.
    files: Whether the agent may change files of its folder.
    tools: The tools it may use, by the program's own names; null means those that reading, editing and a shell take.
    permission: The program's own permission or approval mode; null leaves ours.
    profile: The program's own profile.
    effort: How hard the model should think, in the program's own words.
    thinking_tokens: The most tokens of thinking, where the program can be told.
    network: Whether its tools may use the network; the model itself is always reached.
    web_search: Whether it may search the web, where the program can.
    data_dirs: Folders that are mounted read-only below `data/`, each under its name.
    preamble: What is put before the skill's text in the agent's copy of it.
    structured: Whether the answer is asked for by a JSON schema, where the program can.
    empty_retries: How often a run that ended without an answer is begun again, with a note.
    timeout: The most seconds of one run.
    at_once: How many agents run at the same time, at most.
    most_tokens: What one run is reserved at under a cap of tokens or dollars.
    sandbox: `bubblewrap` confines the program; `none` runs it as you, which needs --trust.
    path: Where the program is; null looks it up on PATH.
    """

    mode: Literal["cli", "sdk", "auto"] = "cli"
    skill: Literal["native", "told"] = "native"
    files: Literal["edit", "read"] = "edit"
    tools: tuple[str, ...] | None = None
    permission: str | None = None
    profile: str | None = None
    effort: str | None = None
    thinking_tokens: int | None = None
    network: bool = False
    web_search: bool = False
    data_dirs: dict[str, str] = {}
    preamble: str | None = None
    structured: bool = True
    empty_retries: int = 1
    timeout: float = 600.0
    at_once: int = 8
    most_tokens: int = 500_000
    sandbox: Literal["bubblewrap", "none"] = "bubblewrap"
    path: str | None = None

    def __post_init__(self) -> None:
        if self.empty_retries < 0 or self.timeout <= 0 or min(self.at_once, self.most_tokens) < 1:
            raise ValueError("empty_retries must be 0 or more, timeout more than 0, at_once and most_tokens at least 1")
        bad = sorted(name for name in self.data_dirs if not name.isidentifier())
        if bad:
            raise ValueError(f"data_dirs has {', '.join(bad)}: a name is letters, digits and underscores")


class CliSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model reached through an agent's own program: as an agent, or asked once with its tools off.

    model: The model's name, as the program knows it; null leaves the program's own choice.
    base_url: The address of the model's server; null leaves the program's own provider.
    api_key: The key as a reference, `${NAME}`, or the word `none`; the provider's own host has its usual one.
    wire: Which protocol the server speaks, where the program knows several.
    effort: How hard the model should think when it is asked once, in the program's own words.
    max_tokens: The most tokens of one reply that a cap reserves; the program may not obey it.
    timeout: The most seconds one request may take.
    price: What the model costs; some well-known names have a price of their own.
    alias: What stands for the address in the journal, so that answers stay good when the address changes.
    path: Where the program is when it is asked once; null looks it up on PATH.
    """

    model: str | None = None
    base_url: str | None = None
    api_key: str | None = None
    wire: Literal["chat", "responses", "messages"] | None = None
    effort: str | None = None
    max_tokens: int = 16_000
    timeout: float = 300.0
    price: Price | None = None
    alias: str | None = None
    path: str | None = None

    def __post_init__(self) -> None:
        if self.max_tokens < 1 or self.timeout <= 0:
            raise ValueError("max_tokens must be at least 1, and timeout more than 0")
