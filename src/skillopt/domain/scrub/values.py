"""Whether what stands where a secret would stand is one, or a placeholder, a reference, code, or prose.

Judges one value at a time, by its own letters and how it was written; refuses to know where in a text it came from.
"""

from __future__ import annotations

import functools
import itertools
import re
from enum import Enum

from skillopt.domain.scrub.names import Family


class Style(Enum):
    """How a value was written down."""

    QUOTED = "quoted"
    SHELL = "shell"
    BARE = "bare"
    SAID = "said"
    LOOSE = "loose"


# Words that stand where a secret would: names of things, of types, of states.
_STAND_IN_TEXT = """
    a account access actual add admin all an any apikey api app application args attribute auth authentication
    authorization available base bearer basic bar baz blah body bool boolean bytes callback change changeme changed
    char class client code company config confirm console cookie corp cred credential credentials creds current data
    db default deleted demo description digest disabled dummy edit email empty enabled encrypted enter env environ
    environment error example expired expiry fake false field file files filled foo forgot form found from generate
    generated get getenv getpass given goes hash header headers here hidden id in incorrect info input insert int
    integer invalid is item items it jwt key keys label len lexer line link list local login long lookup manager map
    mask masked match me method mine missing mock must my name new next nil no node none not null number nullable
    object off old on one only op opt option optional options or os our page param parameter params parse parser
    pass passphrase passwd password passwords passwort path payload phrase place placeholder please plain point
    policy private process profile prompt properties property props provide provided public put pw pwd raw read
    readonly redacted ref refresh regex removed replace req request required res reset response result root row same
    sample sanitized secret secrets self server service session set setting settings shell show some ssh state
    status storage store str stream string struct structure system systemd tbd temp temporary test text that the
    their there this to todo token tokens true type undefined unknown unset update url used user username uuid val
    valid value values var variable vault void wrong your yours ldap sss compat
"""
_STAND_INS = frozenset(_STAND_IN_TEXT.split())
_SHORTEST_PASSWORD = 4
_SHORTEST_OTHER = 6
_SHORTEST_MACHINE = 8
_SHORTEST_NUMBER = 6
_SHORTEST_ID = 16
_SHORTEST_SAID = 6
_SHORTEST_LOOSE = 7
_SHORTEST_SHUFFLED = 10
_SHORTEST_JUMBLED = 12
_LONG = 16
_LONGEST_PATH_WORD = 32
_FEWEST_LETTERS = 6
_PASSPHRASE_WORDS = 4
_CODE_START_TEXT = "await function lambda new not return throw typeof yield async if for in is with and or"
_CODE_STARTS = frozenset(_CODE_START_TEXT.split())


@functools.cache
def _placeholder() -> re.Pattern[str]:
    """Return the pattern of values that stand for another value."""
    return re.compile(
        r"(?i)^(?:"
        r"[*•.xX#_~?0-]+|\$[a-z_][a-z0-9_.:]*|%[a-z_][a-z0-9_]*%|<[^<>]*>?|\[[^\[\]]*\]|\{[^{}]*\}|@[a-z_.]+@|"
        r"!(?:ref|sub|getatt|vault|secret|env\S*|env_var|importvalue|join)\b.*|"
        r"(?:arn:aws|vault:|op://|ssm:|ref\+|keyring:|env:|env\.|file:|file\(|secrets?://|secrets?:|gcpsm|awssm|sm://|enc\[|"
        r"https?://|projects/).*|"
        r"(?:true|false|yes|no|on|off)"
        r")$"
        r"|\*\*\*|x{4}|\.\.\.|…|\\[wWdDsS]|\(\?[:=!<P]|^:[a-z]+:|\[SECRET:"
        r"|%[sdrv](?:\W|$)|%\([a-z_]+\)s|\$\{[^}]*\}|\$\([a-z]|\{\{.*\}\}|<%.*%>|#\{[^}]*\}|"
        r"\byour[_\- ]|[_\- ]here\b|placeholder|EXAMPLE(?:KEY|TOKEN|SECRET)?$|redacted|change[_-]?me"
    )


@functools.cache
def _code() -> re.Pattern[str]:
    """Return the pattern of unquoted values that are program text."""
    return re.compile(
        r"^(?:[A-Za-z_$][\w$]*(?:\??\.|::|->)[A-Za-z_$][\w$]*(?:(?:\??\.|::|->)[A-Za-z_$][\w$]*)*[?!]?(?:[\[(].*)?"
        r"|[A-Za-z_$@&*][\w$.:]*[\[(<{].*|[(\[{&*@].*|-?[0-9]+(?:\.[0-9]+)*[a-zA-Z%]{0,2}|[-+]?0x[0-9a-fA-F]{1,8})$"
    )


@functools.cache
def _path() -> re.Pattern[str]:
    ends = "pem|key|json|txt|ya?ml|env|crt|p12|pfx|py|js|ts|go|rs|toml|ini|cfg|conf|md|log"
    return re.compile(
        r"^(?:(?:~|\.{1,2}|[A-Za-z]:)?[/\\][\w.@ -]+(?:[/\\][\w.@ ${}-]*)*"
        rf"|[\w-]+(?:/[\w.-]+)+|[\w-]+\.(?:{ends}))$"
    )


@functools.cache
def _technical() -> re.Pattern[str]:
    """Return the pattern of names of algorithms and versions, which stand beside "password" and "token" in prose."""
    algorithms = (
        r"sha-?\d+|md5|base-?\d+|utf-?\d+|oauth-?2|bcrypt|argon2\w*|pbkdf2|scrypt|rfc-?\d+|aes|rsa|[hre]s\d+|https?"
    )
    return re.compile(rf"(?i)^(?:(?:{algorithms})(?:[^a-z0-9].*)?|v?\d+(?:\.\d+)*[a-z%]{{0,2}})$")


@functools.cache
def _separated() -> re.Pattern[str]:
    return re.compile(r"[-_.:/ @]+")


@functools.cache
def _wordy_piece() -> re.Pattern[str]:
    """Return the pattern of a word, a number, or a word with a short number."""
    return re.compile(r"[A-Za-z]*\d{0,3}|\d+|v?\d+[a-z]?")


def is_variable_name(value: str) -> bool:
    """Say whether the value is a variable of a template or a format string."""
    return _variable().search(value) is not None


@functools.cache
def _variable() -> re.Pattern[str]:
    return re.compile(r"^(?:\$\{?\w+\}?|\{+[\w.!\[\]'\"()-]*\}+|%[sdrv]|%\(\w+\)s|<\w+>|:\w+|\+\w+\+)$")


def looks_like_path(value: str) -> bool:
    """Say whether the value reads as a file path, not as a random string that happens to contain slashes."""
    if not _path().search(value):
        return False
    if len(value) < _LONGEST_PATH_WORD or "." in value:
        return True
    digits, uppers = sum(map(str.isdigit, value)), sum(map(str.isupper, value))
    return not ((digits >= 3 and uppers >= 5) or uppers >= len(value) / 5)


def is_placeholder(value: str) -> bool:
    """Say whether the value only stands for a secret: a mask, a reference, words such as `your-api-key`."""
    if _placeholder().search(value):
        return True
    words = _words(value)
    letters = sum(map(len, words))
    digits = sum(char.isdigit() for char in value)
    return bool(letters) and digits <= 1 and all(word in _STAND_INS for word in words)


def is_mask(value: str) -> bool:
    """Say whether a provider's shape was filled in by a writer of documentation."""
    return _filled_in().search(value) is not None or (len(value) >= _LONG and len(set(value)) < _FEWEST_LETTERS)


@functools.cache
def _filled_in() -> re.Pattern[str]:
    return re.compile(
        r"xxxx|XXXX|\*\*\*\*|\.\.\.\.|EXAMPLE|(?<![A-Za-z0-9])(?:your|YOUR|my|MY|insert|INSERT|replace|REPLACE)(?:[-_]|api|key|token|secret)"
        r"|placeholder|PLACEHOLDER|redacted|REDACTED"
    )


def believable(value: str, family: Family, style: Style) -> bool:
    """Say whether `value`, written in `style` under a name of `family`, is a secret worth hiding."""
    password = family is Family.PASSWORD
    if len(value) < (_SHORTEST_PASSWORD if password else _SHORTEST_OTHER):
        return False
    if value.isdigit():
        return len(value) >= (_SHORTEST_NUMBER if password else _SHORTEST_ID) and style is not Style.LOOSE
    if _is_code(value, style) or is_placeholder(value) or looks_like_path(value):
        return False
    if " " in value or "\t" in value:
        return password and _passphrase(value)
    if style in {Style.SAID, Style.LOOSE}:
        return _believable_in_prose(value, family, style)
    if all(char.isalpha() or char in "_-." for char in value):
        return _believable_letters(value, family, style)
    return password or _drawn(value, strict=family is Family.STRICT)


def _is_code(value: str, style: Style) -> bool:
    if style not in {Style.BARE, Style.SAID, Style.LOOSE}:
        return False
    drawn = sum(map(str.isdigit, value)) >= 2 and sum(map(str.isupper, value)) >= 2 and "(" not in value
    return value in _CODE_STARTS or (_code().search(value) is not None and not drawn)


def _believable_in_prose(value: str, family: Family, style: Style) -> bool:
    """Judge a value that only words or blanks join to its name: there, more words than secrets follow."""
    if _technical().search(value) or not any(char.isdigit() for char in value):
        signed = style is Style.SAID and _signs(value) > 0 and not value[:-1].isalpha()
        drawn = value.isalpha() and len(value) >= _SHORTEST_MACHINE and (is_shuffled(value) or is_jumbled(value))
        return family is Family.PASSWORD and (signed or drawn)
    if family is Family.PASSWORD:
        return len(value) >= (_SHORTEST_SAID if style is Style.SAID else _SHORTEST_LOOSE)
    return _drawn(value, strict=style is Style.LOOSE)


def _believable_letters(value: str, family: Family, style: Style) -> bool:
    """Judge a value without digits or signs: a weak password, or a word."""
    words = _words(value)
    written_out = style in {Style.QUOTED, Style.SHELL}
    if written_out and is_jumbled(value) and not any(len(word) >= 4 and word in _STAND_INS for word in words):
        return True
    if len(value) >= (_SHORTEST_MACHINE if family is Family.PASSWORD else _SHORTEST_SHUFFLED) and is_shuffled(value):
        return True
    if any(word in _STAND_INS for word in words):
        return False
    if family is not Family.PASSWORD:
        return len(value) >= _LONG and value.isalpha() and len(words) == 1 and written_out
    ordinary = len(value) < 6 or not value.isascii() or "." in value
    if style is Style.BARE:
        return not ordinary and value.isalpha() and value.islower()
    return not ordinary and not value.istitle() and "_" not in value


def _passphrase(value: str) -> bool:
    """Judge a password with blanks: plain words, or prose."""
    words = _words(value)
    if len(words) < _PASSPHRASE_WORDS or any(word in _STAND_INS for word in words):
        return False
    return value.islower() and all(char.isalnum() or char in " -" for char in value)


def _drawn(value: str, *, strict: bool) -> bool:
    """Say whether a machine drew the value: digits or signs among the letters, not words with a number at the end."""
    digits = sum(char.isdigit() for char in value)
    letters = sum(char.isalpha() for char in value)
    if digits + _signs(value) == 0 or letters < 2 or len(value) < (_LONG if strict else _SHORTEST_MACHINE):
        return False
    if strict and digits < 2 and not is_shuffled(value):
        return False
    pieces = _separated().split(value)
    one_case = value.lower() == value or value.upper() == value
    worded = one_case and all(_wordy_piece().fullmatch(piece) for piece in pieces)
    return not worded or (len(pieces) == 1 and len(value) >= _LONG)


def _signs(value: str) -> int:
    return sum(char in "!@#$%^&*?~" for char in value)


def is_shuffled(value: str) -> bool:
    """Say whether cases alternate the way a machine draws them; camel case has fewer capitals."""
    turns = sum(before.isupper() != after.isupper() for before, after in itertools.pairwise(value))
    return turns >= len(value) * 0.35 and sum(char.isupper() for char in value) >= len(value) * 0.25


def is_jumbled(value: str) -> bool:
    """Say whether capitals stand as they do in no camel case: a lone small letter between them, or two runs of them."""
    return len(value) >= _SHORTEST_JUMBLED and value.isalpha() and _jumble().search(value) is not None


@functools.cache
def _jumble() -> re.Pattern[str]:
    return re.compile(r"[A-Z][a-z](?:[A-Z]|$)|[A-Z]{2}[a-z]+[A-Z]*[a-z]*[A-Z]{2}")


def _words(value: str) -> tuple[str, ...]:
    """Return the words of letters in a value, lower case."""
    return tuple(word.lower() for word in _word().findall(value))


@functools.cache
def _word() -> re.Pattern[str]:
    return re.compile(r"[A-Z]*[a-z]+|[A-Z]+")
