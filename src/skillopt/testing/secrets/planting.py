"""Planted secrets, fresh for every seed: each in a line such as a session, a log or a config file has.

Owns where a secret stands; what it looks like is `formats`' business. Refuses to know how any of them is found. Every
planted value occurs in its line as it stands, so a search without scrubbing finds them all.
"""

from __future__ import annotations

import base64
import json
import string
from collections.abc import Callable, Mapping
from urllib.parse import quote

import msgspec

from skillopt.domain.seeds import Dice, dice
from skillopt.testing.secrets.formats import (
    ALNUM,
    FORMATS,
    HEX,
    URLSAFE,
    drawn,
    from_recipe,
    key_block,
    web_token,
)
from skillopt.testing.secrets.lines import (
    CARRIERS,
    FLAG_LINES,
    HEADER_LINES,
    MACHINE_LINES,
    PASSWORD_LINES,
    SPOKEN_LINES,
    URL_LINES,
)


class Planted(msgspec.Struct, frozen=True, kw_only=True):
    """One secret in one text; `kind` names its format or its context, `line` may hold several lines for a key block."""

    kind: str
    value: str
    line: str


def planted(seed: int, count: int) -> tuple[Planted, ...]:
    """Return that many secrets, every kind about equally often, the same for the same seed."""
    kinds = (*PROVIDER_KINDS, *CONTEXT_KINDS)
    return tuple(_plant(kinds[index % len(kinds)], dice("planted", seed, index)) for index in range(count))


def planted_of(kinds: tuple[str, ...], seed: int, count: int) -> tuple[Planted, ...]:
    """Return that many secrets of the given kinds only."""
    return tuple(_plant(kinds[index % len(kinds)], dice("planted", seed, index)) for index in range(count))


def _plant(kind: str, draw: Dice) -> Planted:
    if kind in FORMATS:
        lead, _, recipe = FORMATS[kind].rpartition("|")
        value = from_recipe(recipe, draw)
        return Planted(kind=kind, value=value, line=_carried(lead + value, draw))
    return _RECIPES[kind](kind, draw)


def _carried(value: str, draw: Dice) -> str:
    return draw.choice(CARRIERS).format(v=value)


def _jwt(kind: str, draw: Dice) -> Planted:
    value = web_token(draw)
    return Planted(kind=kind, value=value, line=_carried(value, draw))


def _block(kind: str, draw: Dice) -> Planted:
    value = key_block(draw)
    carrier = draw.choice(("{v}\n", "$ cat id_rsa\n{v}\n$ ls\n", 'PEM = """{v}"""\n', "key: |\n{v}\nname: a\n"))
    return Planted(kind=kind, value=value, line=carrier.format(v=value))


def _escaped_block(kind: str, draw: Dice) -> Planted:
    value = json.dumps(key_block(draw) + "\n")[1:-1]
    carrier = draw.choice(
        ('{{"type": "service_account", "private_key": "{v}", "client_id": "1"}}', '{{"content": "{v}done"}}')
    )
    return Planted(kind=kind, value=value, line=carrier.format(v=value))


_PLAIN_KINDS = (
    "github-classic",
    "openai-project",
    "slack-bot",
    "stripe-live",
    "aws-access-key",
    "gitlab-personal",
    "anthropic",
)


def _in_base64(kind: str, draw: Dice) -> Planted:
    recipe = FORMATS[draw.choice(_PLAIN_KINDS)]
    before = drawn(string.ascii_lowercase, draw.randint(0, 11), draw)
    value = base64.b64encode(f"{before}: {from_recipe(recipe, draw)}\n".encode()).decode()
    carrier = draw.choice(('{{"data": "{v}"}}', "  blob: {v}", "echo {v} | base64 -d", "config={v}"))
    return Planted(kind=kind, value=value, line=carrier.format(v=value))


def _percent(kind: str, draw: Dice) -> Planted:
    inner = from_recipe(FORMATS[draw.choice(_PLAIN_KINDS)], draw)
    value = quote(f"next=/a?k={inner}", safe="")
    return Planted(kind=kind, value=value, line=f"GET /login?state={value}&lang=en HTTP/1.1")


def _machine_value(draw: Dice) -> str:
    recipe = draw.choice(
        (
            "{alnum:20}",
            "{alnum:32}",
            "{alnum:40}",
            "{hex:32}",
            "{hex:40}",
            "{hex:64}",
            "{url:43}",
            "{b64:38}+/",
            "{b64:43}=",
            "{hex:8}-{hex:4}-4{hex:3}-a{hex:3}-{hex:12}",
            "{lower:24}",
            "{upper:30}",
        )
    )
    return from_recipe(recipe, draw)


def _password(draw: Dice) -> str:
    signs = "!@#%^*_-+.?~"
    word = draw.choice(("winter", "Coffee", "dragon", "Harbour", "purple", "Falcon", "monkey"))
    number = str(draw.randint(100, 9100))
    return draw.choice(
        (
            word + number,
            word + draw.choice(signs) + number,
            number + draw.choice(signs) + word.title() + draw.choice("!?*#"),
            drawn(ALNUM, draw.randint(10, 21), draw),
            drawn(ALNUM, 7, draw) + draw.choice(signs) + drawn(ALNUM, 5, draw) + draw.choice(signs) + "9k",
            f"{word.lower()}-{drawn(string.ascii_lowercase, 6, draw)}-{number}",
        )
    )


def _from_lines(lines: tuple[str, ...], value: Callable[[Dice], str]) -> Callable[[str, Dice], Planted]:
    def plant(kind: str, draw: Dice) -> Planted:
        secret = value(draw)
        return Planted(kind=kind, value=secret, line=draw.choice(lines).format(v=secret))

    return plant


def _url_password(draw: Dice) -> str:
    return draw.choice(
        (drawn(ALNUM, 16, draw), drawn(URLSAFE, 22, draw), quote(_password(draw), safe=""), drawn(HEX, 32, draw))
    )


def _basic(kind: str, draw: Dice) -> Planted:
    value = base64.b64encode(f"bob:{_password(draw)}".encode()).decode()
    carrier = draw.choice(("Authorization: Basic {v}", '"Authorization": "Basic {v}"', "-H 'authorization: Basic {v}'"))
    return Planted(kind=kind, value=value, line=carrier.format(v=value))


_RECIPES: Mapping[str, Callable[[str, Dice], Planted]] = {
    "jwt": _jwt,
    "key-block": _block,
    "key-block-escaped": _escaped_block,
    "in-base64": _in_base64,
    "percent-encoded": _percent,
    "password-assignment": _from_lines(PASSWORD_LINES, _password),
    "machine-assignment": _from_lines(MACHINE_LINES, _machine_value),
    "spoken-password": _from_lines(SPOKEN_LINES, _password),
    "flag": _from_lines(FLAG_LINES, lambda draw: drawn(ALNUM, draw.randint(12, 31), draw)),
    "url-userinfo": _from_lines(URL_LINES, _url_password),
    "header": _from_lines(HEADER_LINES, _machine_value),
    "basic-header": _basic,
}
PROVIDER_KINDS: tuple[str, ...] = (*FORMATS, "jwt", "key-block", "key-block-escaped")
CONTEXT_KINDS: tuple[str, ...] = tuple(kind for kind in _RECIPES if kind not in PROVIDER_KINDS)
