"""What every model behind an HTTP server can be told, whatever the wire format, and what a stage may change of it.
Owns these keys and their checks; refuses to know where a secret is kept: an `api_key` here is only its reference."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from skillopt.domain.errors import UsageError
from skillopt.domain.usage import Price
from skillopt.kernel.work import Stage

JsonFields = dict[str, object]


class StageSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one stage of a run changes of its role's model; null leaves it.

    max_tokens: The most tokens of one reply at this stage.
    temperature: The temperature at this stage.
    reasoning_effort: How hard the model should think at this stage.
    timeout: The most seconds one request may take at this stage.
    """

    max_tokens: int | None = None
    temperature: float | None = None
    reasoning_effort: str | None = None
    timeout: float | None = None

    def __post_init__(self) -> None:
        if (self.max_tokens is not None and self.max_tokens < 1) or (self.timeout is not None and self.timeout <= 0):
            raise ValueError("max_tokens must be at least 1, and timeout more than 0")

    @property
    def changes(self) -> JsonFields:  # values of fields of this very struct
        """What is not left as it is."""
        return {name: value for name, value in msgspec.structs.asdict(self).items() if value is not None}


class ModelSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One model on one server. The key itself is no setting: it is given to the chat and kept nowhere else.

    model: The model's name, as the server knows it.
    api_key: The key as a reference, `${NAME}`, or the word `none`; a provider's own host has its usual one.
    headers: Further HTTP headers.
    temperature: Sent where a request leaves it open; null lets the server choose.
    max_tokens: The most tokens of one reply.
    extra_body: Further fields of the request, as the server knows them.
    stream: Whether the reply is asked for in pieces.
    timeout: The most seconds one request may take.
    stall_seconds: The longest silence in a stream; without a stream, silence is how a server thinks.
    price: What the model costs; some well-known names have a price of their own.
    alias: What stands for the address in the journal, so that answers stay good when the address changes.
    stages: What single stages change of this model, such as `{rewrite: {max_tokens: 64000}}`.
    """

    model: str
    api_key: str | None = None
    headers: dict[str, str] = {}
    temperature: float | None = None
    max_tokens: int = 4096
    extra_body: JsonFields = {}
    stream: bool = False
    timeout: float = 300.0
    stall_seconds: float = 120.0
    price: Price | None = None
    alias: str | None = None
    stages: dict[Stage, StageSettings] = {}

    def __post_init__(self) -> None:
        if self.max_tokens < 1 or min(self.timeout, self.stall_seconds) <= 0:
            raise ValueError("max_tokens must be at least 1, and timeout and stall_seconds more than 0")
        check_stages(self.stages, self.__struct_fields__)

    def __repr__(self) -> str:
        # header values may be secrets
        return f"{type(self).__name__}(model={self.model!r}, …)"


class SeeingSettings(ModelSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model that may be shown images.

    image_tokens: The most tokens that one image is billed as; caps set so many aside until the bill is known.
    """

    image_tokens: int = 50_000

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.image_tokens < 0:
            raise ValueError("image_tokens must be at least 0")


def check_stages(stages: dict[Stage, StageSettings], fields: Iterable[str]) -> None:
    """Refuse a stage that changes what its model does not have."""
    known = set(fields)
    for stage, settings in stages.items():
        unknown = sorted(set(settings.changes) - known)
        if unknown:
            raise ValueError(f"stages.{stage} sets {', '.join(unknown)}, which this backend does not know")


def encoded_constants(fields: JsonFields, extra: JsonFields, own: tuple[str, ...]) -> bytes:
    """Return the fields that are the same in every request, encoded, each after a comma; `own` are ours to write."""
    clash = sorted(name for name in extra if name in own)
    if clash:
        raise UsageError(f"extra_body sets {', '.join(clash)}.", hint="Use this model's own settings for these.")
    encoded = msgspec.json.encode(fields | extra)[1:-1]
    return b"," + encoded if encoded else b""


def sampling(fields: JsonFields) -> str:
    """Return what changes the answer beyond the request itself, in one spelling; null and {} change nothing."""
    present = {name: value for name, value in fields.items() if value is not None and value != {}}
    return msgspec.json.encode(present, order="deterministic").decode()
