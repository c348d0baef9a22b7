"""What the words of an edit may not contain, and what a person should be warned of.

Owns: the content rules that hold in every mode (training and sleep). Knows nothing of the document the words go into;
the narrower language of the nightly cycle is checked elsewhere.
"""

from __future__ import annotations

import re
import unicodedata

from skillopt.domain.skill.edits import Edit, Objection, Refusal
from skillopt.domain.skill.markdown.markers import has_marker

_PERMISSION = re.compile(r"allowed[-_]?tools", re.IGNORECASE)
_URL = re.compile(r"(?:https?://|www\.)[^\s<>()\[\]\"'`]+", re.IGNORECASE)
_PROMPT = re.compile(r"^[ \t]*\$[ \t]+(\S.*)$", re.MULTILINE)
_FENCED = re.compile(
    r"^[ \t]*(?:```+|~~~+)[ \t]*(?:ba|z|fi)?(?:sh|shell|console|powershell|ps1|cmd)[ \t]*$", re.MULTILINE
)
_PROGRAM = re.compile(
    r"(?:^|[`|;&][ \t]*)((?:sudo|curl|wget|rm|chmod|chown|dd|ssh|scp|nc|eval|bash|sh|zsh|powershell|pwsh|pip3?|pipx"
    r"|uvx?|npm|npx|apt|apt-get|brew|git|docker|python3?)[ \t]+[^`\r\n|]+)",
    re.MULTILINE,
)

# Invisible, or telling their neighbours how to look, without being in the format category.
_BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
_JOINER = "\u200d"
_PRESENTATION = frozenset("\ufe0e\ufe0f")
_KEYCAP = "\u20e3"
_SKIN_TONES = frozenset(chr(code) for code in range(0x1F3FB, 0x1F400))
_SELECTORS = frozenset(chr(code) for code in (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))


def objection(content: str) -> Objection | None:
    """Return why these words may not enter a skill, or None when they may."""
    if has_marker(content):
        detail = "The content holds a region marker; write the words only, the region's owner sets the markers."
        return Objection(reason=Refusal.MARKER_IN_CONTENT, detail=detail)
    if "<!--" in content:
        detail = "The content holds an HTML comment, which a reader of the page cannot see; write it as plain text."
        return Objection(reason=Refusal.HTML_COMMENT, detail=detail)
    hidden = hidden_character(content)
    if hidden is not None:
        detail = f"The content holds the invisible character U+{ord(hidden):04X}; leave it out."
        return Objection(reason=Refusal.HIDDEN_UNICODE, detail=detail)
    words = _PERMISSION.search(content)
    if words is not None:
        detail = f"The content speaks of {words[0]!r}; what an agent may do is not the skill's to say."
        return Objection(reason=Refusal.PERMISSION_WORDS, detail=detail)
    return None


def hidden_character(text: str) -> str | None:
    """Return the first character a reader cannot see (bidi control, zero width, tag, control, lone surrogate)."""
    for index, character in enumerate(text):
        if not character.isascii() or not character.isprintable():
            before, after = text[max(0, index - 1) : index], text[index + 1 : index + 2]
            if _is_hidden(character, before, after):
                return character
    return None


def warnings(edit: Edit) -> tuple[str, ...]:
    """Return what a person should look at twice: URLs and commands that the replaced text did not hold."""
    return cautions(edit.content, edit.target)


def cautions(content: str, known: str) -> tuple[str, ...]:
    """Return what a person should look at twice in new words: URLs and commands that the known text does not hold."""
    found = [f"new URL {url}" for url in _unseen(_URL.findall(content), known)]
    commands = [*_PROMPT.findall(content), *_PROGRAM.findall(content)]
    unseen = _unseen([command.strip() for command in commands], known)
    found.extend(f"new command `{command}`" for command in unseen)
    if not unseen and _FENCED.search(content) and not _FENCED.search(known):
        found.append("new block of shell commands")
    return tuple(found)


def _unseen(found: list[str], known: str) -> list[str]:
    return [one for one in dict.fromkeys(found) if one not in known]


def _is_hidden(character: str, before: str, after: str) -> bool:
    if character in "\t\n\r":
        return False
    if character == _JOINER:
        return not (_ends_emoji(before) and _is_symbol(after))
    if character in _PRESENTATION:
        return not (after == _KEYCAP or (before != "" and unicodedata.category(before) in {"So", "Sm", "Po"}))
    return character in _BLANKS | _SELECTORS or unicodedata.category(character) in {"Cf", "Cc", "Cs", "Zl", "Zp"}


def _ends_emoji(character: str) -> bool:
    return character in _SKIN_TONES or character == "\ufe0f" or _is_symbol(character)


def _is_symbol(character: str) -> bool:
    return character != "" and unicodedata.category(character) == "So"
