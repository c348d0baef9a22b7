"""The skill: SKILL.md, alone or with the text files of its folder, as an exact and immutable value.

Owns: the exact text, what a model sees of it (`rendered`), and the two digests. Every `Skill` has well-formed
regions, because a malformed one is refused when it is made. Knows no file system and no edit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cached_property

import msgspec

from skillopt.domain.errors import UsageError
from skillopt.domain.skill.markdown.front_matter import field, front_matter
from skillopt.domain.skill.markdown.lines import BOM, lines
from skillopt.domain.skill.markdown.markers import Block, parse_regions
from skillopt.domain.skill.markdown.sections import Section, sections

SKILL_FILE = "SKILL.md"


class SkillFile(msgspec.Struct, frozen=True, kw_only=True):
    """One text file of a skill, by its POSIX path inside the skill's folder."""

    path: str
    text: str


class Skill(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A skill document with the files beside it; SKILL.md comes first, the others sorted by path."""

    name: str | None = None
    files: tuple[SkillFile, ...]

    def __post_init__(self) -> None:
        """Order the files and refuse a skill that could not be read back."""
        ordered = tuple(sorted(self.files, key=lambda file: (file.path != SKILL_FILE, file.path)))
        _check_paths([file.path for file in ordered])
        msgspec.structs.force_setattr(self, "files", ordered)
        self.__dict__["blocks"] = parse_regions(self.text)

    @classmethod
    def from_text(cls, text: str) -> Skill:
        """Return the skill that is one document."""
        return cls(files=(SkillFile(path=SKILL_FILE, text=text),))

    @classmethod
    def from_files(cls, files: Mapping[str, str], name: str | None = None) -> Skill:
        """Return the skill of a folder, given the text of each file by its POSIX path; `name` is the folder's."""
        return cls(name=name, files=tuple(SkillFile(path=path, text=text) for path, text in files.items()))

    @classmethod
    def blank(cls) -> Skill:
        """Return the skill that says nothing yet."""
        return cls.from_text("")

    def file(self, path: str) -> str | None:
        """Return one file's text, or None when the skill has no such file."""
        return next((file.text for file in self.files if file.path == path), None)

    def with_file(self, path: str, text: str) -> Skill:
        """Return the skill with one file's text replaced or added."""
        kept = tuple(file for file in self.files if file.path != path)
        return Skill(name=self.name, files=(*kept, SkillFile(path=path, text=text)))

    @property
    def text(self) -> str:
        """The exact text of SKILL.md."""
        return self.files[0].text

    @cached_property
    def front_matter(self) -> str:
        """The exact characters of the front matter, fences and line endings included; '' if there is none."""
        return front_matter(self.text)

    @property
    def body(self) -> str:
        """Everything of SKILL.md after the front matter."""
        return self.text[len(self.front_matter) :]

    @property
    def declared_name(self) -> str | None:
        """The `name` field of the front matter."""
        found = field(self.front_matter, "name")
        return None if found is None else found.value

    @property
    def description(self) -> str | None:
        """The `description` field of the front matter."""
        found = field(self.front_matter, "description")
        return None if found is None else found.value

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The protected regions of SKILL.md, in order."""
        return parse_regions(self.text)

    def sections(self) -> tuple[Section, ...]:
        """Return the headings of SKILL.md with the lines they cover."""
        return sections(self.text, skip=len(self.front_matter))

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of every file, exactly."""
        return _digest(part for file in self.files for part in (file.path, file.text))

    @cached_property
    def rendered(self) -> str:
        """What a model sees: no front matter, markers or empty regions, LF line ends; then an index of the files."""
        document = _rendered_document(self.text, self.blocks)
        others = [f"- {file.path}" for file in self.files[1:]]
        index = "\n".join(["Other files of this skill:", *others]) if others else ""
        return "\n\n".join(part for part in (document, index) if part)

    @cached_property
    def rendered_digest(self) -> str:
        """The SHA-256 of what a model sees or can open: the rendered text and the text of the other files."""
        return _digest((self.rendered, *(part for file in self.files[1:] for part in (file.path, file.text))))


def _digest(parts: Iterable[str]) -> str:
    hashed = hashlib.sha256()
    for part in parts:
        # A lone surrogate cannot be written to a file, but must not break the arithmetic on values.
        encoded = part.encode("utf-8", "surrogatepass")
        hashed.update(f"{len(encoded)}:".encode())
        hashed.update(encoded)
    return hashed.hexdigest()


def _rendered_document(text: str, blocks: tuple[Block, ...]) -> str:
    start = len(front_matter(text))
    hidden: set[int] = set()
    empty_ends: set[int] = set()
    for block in blocks:
        hidden.update((block.first_line, block.last_line))
        if not block.inner(text).strip():
            hidden.update(range(block.first_line, block.last_line))
            empty_ends.add(block.last_line)
    shown: list[str] = []
    swallow_blank = False
    for line in lines(text):
        if line.number in empty_ends:
            # The blank lines around an empty region were one gap before it was put there.
            swallow_blank = not shown or not shown[-1].strip()
        elif line.start >= start and line.number not in hidden:
            visible = line.text.removeprefix(BOM) if line.number == 1 else line.text
            if visible.strip() or (shown and not swallow_blank):
                shown.append(visible)
            swallow_blank = False
    return "\n".join(shown).rstrip()


def _check_paths(paths: list[str]) -> None:
    if SKILL_FILE not in paths:
        raise UsageError(f"The skill has no {SKILL_FILE}.", hint="Name a folder that holds one, or the file itself.")
    for path in paths:
        parts = path.split("/")
        if "\\" in path or not path.isprintable() or any(part in {"", ".", ".."} for part in parts):
            raise UsageError(
                f"{path!r} is not a path inside the skill's folder.", hint="Use a relative path with forward slashes."
            )
    if len(set(paths)) != len(paths):
        raise UsageError("The skill names a file twice.", hint="Give each path once.")
