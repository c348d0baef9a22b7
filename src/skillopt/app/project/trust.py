"""What of a project this person has allowed to run, each by the digest of all it consists of.
Owns where that is kept: with the person, never in a project, which could bring its own permission along."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from skillopt.domain.errors import StoreError, UsageError
from skillopt.environments.command.program import Program
from skillopt.store.files import make_folder, write_atomic

_NAMED = 8  # how many files a program is described with


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a project would have run on this machine: which key asks for it, what it is, and its digest."""

    key: str
    words: str
    digest: str

    @classmethod
    def of(cls, program: Program) -> Asked:
        """Return what running this grader asks for."""
        return cls(key="environment.command", words=described(program), digest=program.digest)


class Trust(msgspec.Struct, frozen=True, kw_only=True):
    """What was allowed; with no folder nothing was, and nothing can be.

    `written` says that the person's own code names what runs: code that runs already needs no further word.
    """

    folder: Path | None = None
    written: bool = False

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Trust:
        """Return the trust of the person whose environment this is."""
        home, state = environ.get("HOME", ""), environ.get("XDG_STATE_HOME", "")
        if state.startswith("/"):
            return cls(folder=Path(state) / "skillopt" / "trusted")
        return cls(folder=Path(home) / ".local" / "state" / "skillopt" / "trusted") if home.startswith("/") else cls()

    def has(self, asked: Asked) -> bool:
        """Say whether exactly this was allowed."""
        return self.written or (self.folder is not None and (self.folder / asked.digest).is_file())

    def grant(self, asked: Asked) -> None:
        """Allow this, until a byte of it changes."""
        if self.folder is None:
            raise UsageError("There is nowhere to keep that this is trusted.", hint="Set HOME.")
        try:
            make_folder(self.folder)
            write_atomic(self.folder / asked.digest, f"{asked.words}\n".encode())
        except OSError as error:
            raise StoreError(f"{self.folder} cannot be written: {error.strerror}.", hint="Make way for it.") from error

    def demand(self, asked: Asked) -> None:
        """Refuse what was not allowed."""
        if not self.has(asked):
            raise UsageError(
                f"{asked.key} would run {asked.words}, which you have not allowed yet.",
                hint="Look at it, then run `skillopt eval` or `train` with --trust, until it changes.",
            )


def described(program: Program) -> str:
    """Return a program in words."""
    names = [name for name, _ in program.files]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    files = ", ".join(names[:_NAMED]) + more
    return f"`{' '.join(program.run)}`" + (f" with {files}" if files else "") + f" (digest {program.digest[:12]})"
