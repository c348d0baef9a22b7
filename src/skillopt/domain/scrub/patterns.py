"""The rules compiled: one gate that says where to look, and the parts that say what was found.

Owns every pattern that searches a text, made on first use; refuses to decide whether a find is a secret. Patterns work
on UTF-8 bytes and none of them matches a newline.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

import msgspec
import re2

from skillopt.domain.scrub.encodings import base64_cores
from skillopt.domain.scrub.names import CREDENTIAL_WORDS
from skillopt.domain.scrub.rules import EDGE, RULES, SHAPES

TOKEN = r"\[SECRET:[a-z0-9-]+:[0-9a-f]{4}\]"
KEY_BLOCK_BEGIN = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_CLOSERS = r"(?:[\"'`\\\])*]|&quot;|\\u0022)*"
_ANNOTATION = r":[ \t]*[A-Za-z_][\w.<>\[\]|?* ]*[ \t]*=[ \t]*"
_OPERATOR = (
    r"(?:[ \t]*(?:[:?+|]?={1,3}>?|::?\*{0,2})[ \t]*|%3[DdAa](?:%2[27])?"
    r"|,[ \t]*[\"'\\]*[vV]alue[\"'\\]*[ \t]*[:=][ \t]*|[ \t]+value=|>)"
)
_SAYING = r"[ \t]+(?:is|was|are|to)[ \t:=]+"
_SPACED = r"[ \t]+\|[ \t]+|[ \t]+"
_QUOTE = r"(?:[bBrRuUfF@]?\\*[\"'`]|&quot;|\\u0022)"
# In prose most words after "password" are no secret: only one with a digit, a sign or a capital inside is looked at.
_DRAWN = r"(?:[^\s\"'`\d@#$%^&*!+]*[\d@#$%^&*!+]|[A-Za-z]*[a-z][A-Z])"

# What each context is recognised by. Groups: the credential word, then what is left of the head; the value follows it.
HEADS: tuple[tuple[str, str, str], ...] = (
    ("flag", rf"\B--?[A-Za-z0-9_-]*(?i:({CREDENTIAL_WORDS}))(?:[ \t]+|=)((?:{_QUOTE})?)", r"[^\s-]"),
    ("annotated", rf"(?i:({CREDENTIAL_WORDS})){_ANNOTATION}({_QUOTE})", r"\S"),
    ("assigned", rf"(?i:({CREDENTIAL_WORDS})){_CLOSERS}{_OPERATOR}((?:{_QUOTE})?)", r"[^\s\"'`]"),
    ("said", rf"(?i:({CREDENTIAL_WORDS})){_CLOSERS}(?:{_SAYING})((?:{_QUOTE})?)", _DRAWN),
    ("spaced", rf"(?i:({CREDENTIAL_WORDS})){_CLOSERS}(?:{_SPACED})((?:{_QUOTE})?)", _DRAWN),
    ("paired", rf"(?i:({CREDENTIAL_WORDS}))\\*[\"'][ \t]*,[ \t]*({_QUOTE})", _DRAWN),
)
# Contexts whose last group is the value itself.
PLACES: tuple[tuple[str, str], ...] = (
    ("userinfo", r"://[^\s/?#:@\"'<>\\]*:([^\s/@\"'<>]+)@"),
    ("userinfo", r"(?:sql|postgres|mongodb|redis|amqps?|srv|rediss|ftp|smtps?)://[^\s/?#:@\"'<>\\]*:([^\s@\"'<>]+)@"),
    ("userinfo-alone", r"://([A-Za-z0-9_-]{20,})@"),
    ("bearer", r"\b(?i:bearer)(?:[ \t]+|%20)([A-Za-z0-9._~+/=-]{8,})"),
    ("basic", r"\b(?i:basic)(?:[ \t]+|%20)([A-Za-z0-9+/]{8,}={0,2})"),
    ("shell", r"(?:[ \t\"']-u|--user|--proxy-user)[ =]?[\"']?[A-Za-z0-9._@%+-]+:([^\s\"']{4,})"),
    ("shell", r"\b(?:mysql|mysqldump|mysqladmin|mariadb|sshpass)\b[^\n|;&]*? -p[ ]?[\"']?([^\s\"'-][^\s\"']{3,})"),
)
_PREFIXES = sorted({prefix for rule in RULES for prefix in rule.prefixes}, key=lambda prefix: (-len(prefix), prefix))
PREFIXED = rf"{EDGE}({'|'.join(re2.escape(prefix) for prefix in _PREFIXES)})"


class Patterns(msgspec.Struct, frozen=True, kw_only=True):
    """The gate, and what sorts its hits: `names[i]` is what alternative `i` of `alternatives` is called."""

    gate: re2._Regexp
    alternatives: re2.Set
    names: tuple[str, ...]


def compiled_bytes(pattern: str) -> re2._Regexp:
    """Compile one of our patterns for bytes; any byte above ASCII is a letter like others, so no text is unreadable."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    return re2.compile(pattern.encode("ascii"), options)


@functools.cache
def compiled() -> Patterns:
    """Return the compiled gate; the work is done once, on the first text."""
    named = _named()
    alternatives = re2.Set.FullMatchSet(_options())
    for _, pattern in named:
        alternatives.Add(pattern.encode("ascii"))
    alternatives.Compile()
    return Patterns(gate=gate_with(()), alternatives=alternatives, names=tuple(name for name, _ in named))


def gate_with(spellings: Iterable[bytes]) -> re2._Regexp:
    """Return the gate, opened by these byte strings as well."""
    ours = "|".join(f"(?:{pattern})" for _, pattern in _named()).encode("ascii")
    return re2.compile(b"|".join([ours, *map(re2.escape, sorted(spellings))]), _options())


def _named() -> list[tuple[str, str]]:
    """Return every alternative of the gate with its name, the ones that say most first."""
    return [
        *((f"head:{number}", head + first) for number, (_, head, first) in enumerate(HEADS)),
        *((f"place:{number}", pattern) for number, (_, pattern) in enumerate(PLACES)),
        ("prefix", PREFIXED + r"[A-Za-z0-9_./%+-]{8}"),
        *((f"shape:{number}", shape.marker) for number, shape in enumerate(SHAPES)),
        ("encoded", _encoded_marks()),
        ("percent", r"%[0-9A-Fa-f]{2}[A-Za-z0-9%._~+-]{8}"),
        ("block", KEY_BLOCK_BEGIN),
    ]


@functools.cache
def head(number: int) -> re2._Regexp:
    """Return the pattern of one head, with its groups."""
    return compiled_bytes(HEADS[number][1])


@functools.cache
def place(number: int) -> re2._Regexp:
    """Return the pattern of one place, with its group."""
    return compiled_bytes(PLACES[number][1])


@functools.cache
def shape(number: int) -> re2._Regexp:
    """Return the pattern of one shape."""
    return compiled_bytes(SHAPES[number].pattern)


@functools.cache
def prefixed() -> re2._Regexp:
    """Return the pattern whose group is the provider's prefix."""
    return compiled_bytes(PREFIXED)


@functools.cache
def rules_for(prefix: bytes) -> tuple[tuple[int, re2._Regexp], ...]:
    """Return the rules that may begin with `prefix`, in the table's order."""
    found = []
    for number, rule in enumerate(RULES):
        if any(prefix.startswith(own.encode()) for own in rule.prefixes):
            own_prefixes = "|".join(re2.escape(own) for own in rule.prefixes)
            found.append((number, compiled_bytes(f"(?:{own_prefixes}){rule.tail}")))
    return tuple(found)


@functools.cache
def name_end() -> re2._Regexp:
    """Return the pattern of a dict key whose last component is a credential word."""
    return compiled_bytes(rf"(?i:({CREDENTIAL_WORDS}))$")


@functools.cache
def token() -> re2._Regexp:
    """Return the pattern of what a secret is replaced by."""
    return re2.compile(rf"({TOKEN})".encode("ascii"))


def literals(spellings: Iterable[bytes]) -> re2._Regexp:
    """Return the pattern of any of these byte strings, the longest first."""
    ordered = sorted(spellings, key=lambda spelling: (-len(spelling), spelling))
    return re2.compile(b"|".join(re2.escape(spelling) for spelling in ordered), _options())


def _options() -> re2.Options:
    """Return options for finding only: bytes, no groups, and room for a large automaton."""
    options = re2.Options()
    options.never_capture = True
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = 64 << 20
    return options


def _encoded_marks() -> str:
    """Return the pattern of providers' prefixes inside base64; where three letters are left, a long run must follow."""
    marks = {"PRIVATE KEY"}
    marks.update(prefix for rule in RULES for prefix in rule.prefixes if len(prefix) >= 3)
    cores = {core.decode() for mark in marks for core in base64_cores(mark.encode())}
    cores |= {core.replace("+", "-").replace("/", "_") for core in cores}
    long = "|".join(re2.escape(core) for core in sorted(cores) if len(core) >= 4)
    short = "|".join(re2.escape(core) for core in sorted(cores) if len(core) == 3)
    return rf"(?:{long})[A-Za-z0-9+/_-]{{4}}|(?:{short})[A-Za-z0-9+/_-]{{14}}"
