"""Prompt templates: Markdown files with declared placeholders, filled in one pass; a person may put others in place.
Owns which prompts there are and what each may hold; refuses to know who asks. Substituted text is never expanded."""

from __future__ import annotations

import hashlib
import pkgutil
import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

import msgspec

from skillopt.domain.errors import InternalError, UsageError, unknown_name

_PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}")
_BRACES = re.compile(r"\{\{([^{}\n]*)\}\}")

DECLARED: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "reflect_failures": frozenset({"edit_budget", "rules", "form"}),
        "reflect_successes": frozenset({"edit_budget", "rules", "form"}),
        "reflect_notes": frozenset(),
        "merge_failures": frozenset({"rules", "form"}),
        "merge_successes": frozenset({"rules", "form"}),
        "merge_final": frozenset({"rules", "form"}),
        "rank": frozenset({"edit_budget"}),
        "budget": frozenset(),
        "rewrite": frozenset(),
        "repair": frozenset({"rules"}),
        "slow_update": frozenset(),
        "meta_skill": frozenset(),
        "notes": frozenset(),
        "rules_edits": frozenset(),
        "rules_suggestions": frozenset(),
        "rules_drafts": frozenset(),
        "form_edits": frozenset(),
        "form_suggestions": frozenset(),
        "form_drafts": frozenset(),
    }
)


class Prompts(msgspec.Struct, frozen=True, kw_only=True):
    """The prompts of a run: those that come with the package, and what a person put in the place of some."""

    replaced: dict[str, str] = {}

    def over(self, texts: Mapping[str, str]) -> Prompts:
        """Return these prompts laid over other texts: where both have one, ours counts."""
        return Prompts(replaced={**Prompts.replacing(texts).replaced, **self.replaced})

    @classmethod
    def replacing(cls, texts: Mapping[str, str]) -> Prompts:
        """Return prompts with these in the place of the shipped ones; what nobody knows is an error."""
        for name, text in texts.items():
            if name not in DECLARED:
                raise unknown_name("prompt", name, DECLARED)
            _check(name, text)
        return cls(replaced=dict(texts))

    def text(self, name: str, values: Mapping[str, str] = MappingProxyType({})) -> str:
        """Return a prompt with its placeholders filled."""
        template = self.replaced[name] if name in self.replaced else shipped_prompt(name)
        return fill(template.rstrip("\n"), values)

    @property
    def digest(self) -> str:
        """What names the replaced texts; '' when none is replaced."""
        if not self.replaced:
            return ""
        return hashlib.sha256(msgspec.json.encode(self.replaced, order="sorted")).hexdigest()


@cache
def shipped_prompt(name: str) -> str:
    """Return the text of a prompt that comes with the package."""
    data = pkgutil.get_data("skillopt.phases", f"prompts/{name}.md")
    if data is None:
        raise InternalError(f"The prompt {name!r} is missing from this installation of skillopt.")
    return data.decode()


def fill(template: str, values: Mapping[str, str]) -> str:
    """Put the values in the place of their placeholders; one that nobody fills is our mistake."""

    def value(match: re.Match[str]) -> str:
        if match.group(1) not in values:
            raise InternalError(f"The prompt has a placeholder {match.group(0)} that nothing fills.")
        return values[match.group(1)]

    return _PLACEHOLDER.sub(value, template)


def shortened(text: str, limit: int) -> str:
    """Return the text, or its head and tail with a word on how much was left out between them."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    return f"{text[:head]}\n[… {len(text) - head - tail} characters left out …]\n{text[len(text) - tail :]}"


def _check(name: str, text: str) -> None:
    """Refuse a text that would ask for something nobody fills in, or that hides which reply is wanted."""
    declared = DECLARED[name]
    for written in _BRACES.findall(text):
        if written not in declared:
            valid = ", ".join(f"{{{{{each}}}}}" for each in sorted(declared)) or "none"
            raise UsageError(
                f"The prompt {name}.md has the placeholder {{{{{written}}}}}, which nothing fills.",
                hint=f"It may hold: {valid}.",
            )
    if not text.strip():
        raise UsageError(f"The prompt {name}.md is empty.", hint="Write it, or take the file away.")
