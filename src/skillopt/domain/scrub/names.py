"""Names that say their value is a secret: of variables, dict keys and assignments.

Owns the credential words and what may stand before them; refuses to look at values, which is `values`' business.
"""

from __future__ import annotations

import functools
import re
from enum import Enum

# Ends of names. A password may be any word; a token, secret or key was made by a machine.
PASSWORD_WORDS = r"passwords?|passwd|passwort|passphrase|passcode|pwd|pass|pw"
KEY_WORDS = (
    r"(?:api|app|application|access|account|admin|auth|cipher|client|consumer|cookie|crypt|decrypt|decryption|deploy|encrypt"
    r"|encryption|fernet|functions|hmac|ingest|ingestion|integration|jwt|license|licence|master|personal|priv|private|root|routing|sas|secret"
    r"|server|service|session|shared|sign|signing|ssh|storage|subscription|webhook|write|primary_access)[_\- .]?keys?"
)
TOKEN_WORDS = r"token|secret|secret[_\- .]?key[_\- .]?base|service[_\- ]?role|credentials?|creds?|authorization|auth"
# A name in capitals that ends in _KEY is a secret if its value is long and drawn.
SHOUTED_KEY = r"(?-i:[A-Z0-9]_KEY)"
CREDENTIAL_WORDS = rf"{PASSWORD_WORDS}|{KEY_WORDS}|{TOKEN_WORDS}|{SHOUTED_KEY}"

_PASSWORDS = frozenset(PASSWORD_WORDS.replace("passwords?", "password|passwords").split("|"))
# Letters that may be glued before a credential word without a separator: `authtoken`, `clientsecret`.
_GLUED = (
    "access",
    "admin",
    "api",
    "app",
    "auth",
    "bearer",
    "bot",
    "client",
    "csrf",
    "db",
    "github",
    "id",
    "jwt",
    "my",
    "oauth",
    "refresh",
    "session",
    "shared",
    "sso",
    "user",
    "web",
    "webhook",
)
_LOOSELY_USED = frozenset({"auth", "credential", "credentials", "cred", "creds"})
# What makes a token or key no secret: parts of a vocabulary, positions, names of fields.
_HARMLESS_TEXT = """
    begin bos cancellation cancel cache class cls comma continuation count cur current delimiter end eof eol eos
    event fake final first foreign idempotency image input kind last lookahead mask max min mock name next num
    number operator output pad page parse parser partition per pagination peek prev previous prompt public
    publishable sentinel separator sep sort special start stop string sync syntax total unk whitespace word
    completion reasoning
"""
_HARMLESS = frozenset(_HARMLESS_TEXT.split())
_OTHER_ENDS_TEXT = """
    algorithm count dir directory email endpoint enabled env expires expiry field file filename header host id
    length limit method mode name names path policy port prefix provider region rotation scheme scope size sock
    store suffix ttl type uri url user username version alg
"""
_OTHER_ENDS = frozenset(_OTHER_ENDS_TEXT.split())
_SAYS_SECRET_TEXT = """
    apikey auth credential credentials creds key passcode passphrase passwd password pass pwd secret secrets token
    tokens keys
"""
_SAYS_SECRET = frozenset(_SAYS_SECRET_TEXT.split())


class Family(Enum):
    """How a secret of that name usually looks."""

    PASSWORD = "password"
    MACHINE = "credential"
    STRICT = "key"
    HEADER = "authorization"


def components(name: str) -> tuple[str, ...]:
    """Return the words of a name, lower case: `dbPassword`, `DB_PASSWORD` and `db-password` are all (db, password)."""
    return tuple(word.lower() for word in _component().findall(name))


@functools.cache
def _component() -> re.Pattern[str]:
    return re.compile(r"[A-Z0-9]*[a-z0-9]+|[A-Z0-9]+")


def family_of(prefix: str, word: str) -> Family | None:
    """Say what a name that ends in the credential `word` holds, given the letters before it; None if no secret."""
    lowered = word.lower()
    if lowered == "authorization":
        return Family.HEADER
    starts = _starts_component(prefix, word)
    if lowered in _PASSWORDS:
        if len(lowered) > len("pass") or lowered == "pwd":
            return Family.PASSWORD
        # `pass` and `pw` end ordinary words (compass) and stand alone in others' prose (first pass).
        return (Family.PASSWORD if prefix else Family.MACHINE) if starts else None
    shouted = len(lowered) == len("x_key") and lowered.endswith("_key")
    if not shouted and not starts and not prefix.lower().endswith(_GLUED):
        return None
    before = components(prefix + word[:1] if shouted else prefix)
    if before and before[-1] in _HARMLESS and lowered != "secret":
        return None
    return Family.STRICT if shouted or lowered in _LOOSELY_USED else Family.MACHINE


def _starts_component(prefix: str, word: str) -> bool:
    if not prefix or not prefix[-1].isalpha():
        return True
    return word[0].isupper() and prefix[-1].islower()


def names_a_secret(name: str) -> bool:
    """Say whether an environment variable of this name holds a secret value."""
    if name.upper() in {"PWD", "OLDPWD"}:
        return False
    words = components(name)
    if not words or words[-1] in _OTHER_ENDS:
        return False
    if any(word in _HARMLESS for word in words[:-1]) and words[-1] in {"key", "keys", "token", "tokens"}:
        return False
    glued = words[-1].endswith(("password", "passwd", "apikey", "token", "secret", "pwd", "passphrase"))
    return glued or any(word in _SAYS_SECRET for word in words)
