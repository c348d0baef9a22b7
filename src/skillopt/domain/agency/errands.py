"""What an agent is sent to do: a task in words, the skill it may use, and the files it finds in its folder.
Owns this value and what of it determines the answer; refuses to know folders, prompts and agent programs."""

from __future__ import annotations

import hashlib

import msgspec

from skillopt.domain.skill import Skill


class Attachment(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A file of the task: the name the agent knows it by, what it holds, and where it is read from here.

    `source` is never told to the agent and is no part of any key; the digest of the content is.
    """

    name: str
    digest: str
    source: str


class Errand(msgspec.Struct, frozen=True, kw_only=True):
    """One task for an agent. Everything but the sources of its files determines the answer.

    `files` lie in the agent's folder under their own names; `images` are attachments that are shown to it besides.
    `shims` are tools that exist for this task only and do nothing but be counted.
    """

    instruction: str
    skill: Skill
    files: tuple[Attachment, ...] = ()
    images: tuple[Attachment, ...] = ()
    shims: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """The digest of what the agent can see."""
        seen = (
            self.instruction,
            self.skill.declared_name,
            self.skill.description,
            self.skill.rendered_digest,
            [(each.name, each.digest) for each in self.files],
            [(each.name, each.digest) for each in self.images],
            self.shims,
        )
        return hashlib.sha256(msgspec.json.encode(seen)).hexdigest()
