"""What one check found. Owns this value; refuses to know what was checked."""

from __future__ import annotations

import msgspec


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What one check found: `ok` is None for something that was not checked, or is no fault."""

    check: str
    ok: bool | None
    says: str
