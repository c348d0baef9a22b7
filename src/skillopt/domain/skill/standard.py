"""Whether a skill follows the published Agent Skills rules for names, descriptions and length.

Owns: those few rules, as findings. Changes nothing and decides nothing; unknown front-matter fields are welcome.
"""

from __future__ import annotations

import unicodedata
from typing import Literal

import msgspec

from skillopt.domain.skill.apply import LONGEST_DESCRIPTION
from skillopt.domain.skill.document import Skill
from skillopt.domain.skill.markdown.front_matter import field, fields
from skillopt.domain.skill.markdown.lines import lines

LONGEST_NAME = 64
ADVISED_BODY_LINES = 500


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One departure from the standard: `error` means agents may not load the skill."""

    severity: Literal["error", "warn"]
    subject: Literal["front matter", "name", "description", "body"]
    message: str


def check_standard(skill: Skill, folder_name: str | None = None) -> tuple[Finding, ...]:
    """Return every departure from the standard; the folder is the skill's own name unless another is given."""
    folder = skill.name if folder_name is None else folder_name
    if not skill.front_matter:
        message = "SKILL.md has no front matter; begin it with --- lines around name and description."
        problems = [Finding(severity="error", subject="front matter", message=message)]
    else:
        names = [found.key for found in fields(skill.front_matter)]
        repeated = sorted({name for name in names if names.count(name) > 1})
        problems = [_error("front matter", f"The field {name!r} is given twice; keep one.") for name in repeated]
        problems += [_error("name", message) for message in _name_problems(skill.declared_name, folder)]
        problems += [_error("description", message) for message in _description_problems(skill)]
    count = len(lines(skill.body))
    if count >= ADVISED_BODY_LINES:
        message = f"The body has {count} lines; fewer than {ADVISED_BODY_LINES} are advised. Move parts to references/."
        problems.append(Finding(severity="warn", subject="body", message=message))
    return tuple(problems)


def _error(subject: Literal["front matter", "name", "description"], message: str) -> Finding:
    return Finding(severity="error", subject=subject, message=message)


def _name_problems(declared: str | None, folder: str | None) -> list[str]:
    name = unicodedata.normalize("NFKC", (declared or "").strip())
    if not name:
        return ["The front matter has no name; give the folder's name."]
    problems = []
    if len(name) > LONGEST_NAME:
        problems.append(f"The name has {len(name)} characters; at most {LONGEST_NAME} are allowed.")
    if name != name.lower() or not all(character.isalnum() or character == "-" for character in name):
        problems.append(f"The name {name!r} may hold lower-case letters, digits and hyphens only.")
    if name.startswith("-") or name.endswith("-") or "--" in name:
        problems.append(f"The name {name!r} may not begin or end with a hyphen, nor hold two in a row.")
    if folder is not None and unicodedata.normalize("NFKC", folder) != name:
        problems.append(f"The name {name!r} differs from its folder {folder!r}; make them equal.")
    return problems


def _description_problems(skill: Skill) -> list[str]:
    found = field(skill.front_matter, "description")
    if found is None or not found.value.strip():
        return ["The front matter has no description; say what the skill does and when to use it."]
    problems = []
    if len(found.value) > LONGEST_DESCRIPTION:
        problems.append(
            f"The description has {len(found.value)} characters; at most {LONGEST_DESCRIPTION} are allowed."
        )
    if found.needs_quotes:
        problems.append("The description is not plain text to a YAML reader; put it in double quotes.")
    return problems
