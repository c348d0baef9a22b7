"""Prompt templates: Markdown files with declared placeholders, filled in one pass.
Owns reading and filling them; refuses to know what they ask for. Substituted text is never expanded again."""

from __future__ import annotations

import pkgutil
import re
from functools import cache

from skillopt.domain.errors import InternalError

_PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}")


@cache
def shipped_prompt(name: str) -> str:
    """Return the text of a prompt that comes with the package."""
    data = pkgutil.get_data("skillopt.phases", f"prompts/{name}.md")
    if data is None:
        raise InternalError(f"The prompt {name!r} is missing from this installation of skillopt.")
    return data.decode()


def fill(template: str, values: dict[str, str]) -> str:
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
    return f"{text[:head]}\n[… {len(text) - head - tail} characters left out …]\n{text[-tail:]}"
