"""Planted secrets, fresh for every seed: each in a line such as a session, a log or a config file has.

Owns where a secret stands; what it looks like is `secret_formats`' business. Refuses to know how any of them is found. Every
planted value occurs in its line as it stands, so a search without scrubbing finds them all.
"""

from __future__ import annotations

import base64
import json
import string
from collections.abc import Callable, Mapping
from urllib.parse import quote

import msgspec

from skillopt.domain.seeds import dice
from skillopt.testing.secret_formats import (
    ALNUM,
    FORMATS,
    HEX,
    URLSAFE,
    Draws,
    drawn,
    from_recipe,
    key_block,
    web_token,
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


def _plant(kind: str, draw: Draws) -> Planted:
    if kind in FORMATS:
        lead, _, recipe = FORMATS[kind].rpartition("|")
        value = from_recipe(recipe, draw)
        return Planted(kind=kind, value=value, line=_carried(lead + value, draw))
    return _RECIPES[kind](kind, draw)


_CARRIERS: tuple[str, ...] = (
    "2026-03-14T09:21:33Z INFO worker-3 calling upstream with {v}",
    "[debug] retrying request (attempt 2), credential {v} was refused",
    '{{"level": "debug", "payload": "{v}", "attempt": 2}}',
    '{{"role": "tool", "content": "step 1 done\\nvalue: {v}\\nstep 2 done"}}',
    '{{"arguments": "{{\\"header\\": \\"{v}\\"}}"}}',
    "  value: {v}",
    "export SERVICE_VALUE={v}",
    "UPSTREAM={v} ./run.sh --fast",
    'client = Client("{v}", timeout=30)',
    "const client = createClient('{v}')",
    "I pasted {v} into the console, is that fine?",
    "Use `{v}` for now, I will rotate it on Monday.",
    "+  value: {v}",
    '-    "value": "{v}",',
    "curl -s -H 'X-Auth: {v}' http://127.0.0.1:8080/v1/items",
    "http://127.0.0.1:8080/v1/items?k={v}&page=2",
    "alice,{v},active,2026-01-04",
    "ValueError: cannot use '{v}' here",
    "<string>{v}</string>",
    "\x1b[32m{v}\x1b[0m ok",
    "| staging | {v} | 2026-01-04 |",
    "$ echo {v}",
    "({v})",
    "Got: {v}.",
    "a={v};b=2",
)


def _carried(value: str, draw: Draws) -> str:
    return draw.choice(_CARRIERS).format(v=value)


def _jwt(kind: str, draw: Draws) -> Planted:
    value = web_token(draw)
    return Planted(kind=kind, value=value, line=_carried(value, draw))


def _block(kind: str, draw: Draws) -> Planted:
    value = key_block(draw)
    carrier = draw.choice(("{v}\n", "$ cat id_rsa\n{v}\n$ ls\n", 'PEM = """{v}"""\n', "key: |\n{v}\nname: a\n"))
    return Planted(kind=kind, value=value, line=carrier.format(v=value))


def _escaped_block(kind: str, draw: Draws) -> Planted:
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


def _in_base64(kind: str, draw: Draws) -> Planted:
    recipe = FORMATS[draw.choice(_PLAIN_KINDS)]
    before = drawn(string.ascii_lowercase, draw.randrange(12), draw)
    value = base64.b64encode(f"{before}: {from_recipe(recipe, draw)}\n".encode()).decode()
    carrier = draw.choice(('{{"data": "{v}"}}', "  blob: {v}", "echo {v} | base64 -d", "config={v}"))
    return Planted(kind=kind, value=value, line=carrier.format(v=value))


def _percent(kind: str, draw: Draws) -> Planted:
    inner = from_recipe(FORMATS[draw.choice(_PLAIN_KINDS)], draw)
    value = quote(f"next=/a?k={inner}", safe="")
    return Planted(kind=kind, value=value, line=f"GET /login?state={value}&lang=en HTTP/1.1")


def _machine_value(draw: Draws) -> str:
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


def _password(draw: Draws) -> str:
    signs = "!@#%^*_-+.?~"
    word = draw.choice(("winter", "Coffee", "dragon", "Harbour", "purple", "Falcon", "monkey"))
    number = str(draw.randrange(9000) + 100)
    return draw.choice(
        (
            word + number,
            word + draw.choice(signs) + number,
            number + draw.choice(signs) + word.title() + draw.choice("!?*#"),
            drawn(ALNUM, 10 + draw.randrange(12), draw),
            drawn(ALNUM, 7, draw) + draw.choice(signs) + drawn(ALNUM, 5, draw) + draw.choice(signs) + "9k",
            f"{word.lower()}-{drawn(string.ascii_lowercase, 6, draw)}-{number}",
        )
    )


_PASSWORD_LINES: tuple[str, ...] = (
    "DB_PASSWORD={v}",
    "export PGPASSWORD={v}",
    "MYSQL_PWD={v} mysqldump shop",
    "password: {v}",
    'password: "{v}"',
    "db_password = '{v}'",
    '"password": "{v}",',
    '{{"user": "bob", "passwd": "{v}"}}',
    '{{"input": "{{\\"password\\": \\"{v}\\"}}"}}',
    'dbPassword: "{v}"',
    'conn = connect(host="db", password="{v}")',
    "Server=db;User Id=app;Password={v};Encrypt=true",
    "spring.datasource.password={v}",
    "<password>{v}</password>",
    'ENV ADMIN_PASSWORD="{v}"',
    "docker run -e ROOT_PASSWORD={v} -d db",
    'String password = "{v}";',
    "requirepass: x\npassphrase={v}",
    'password: str = "{v}"',
    "smtp_pass = {v}",
    '$env:APP_PASSWORD = "{v}"',
    "set DB_PASSWORD={v}",
    '- name: db\n  password: "{v}"',
    '"adminPassword" : "{v}"',
    'user["password"] = "{v}"',
    ":password => '{v}',",
    'define("DB_PASSWORD", "{v}");',
    "**Password:** {v}",
    '{{"name": "DB_PASSWORD", "value": "{v}"}}',
    "pwd={v}&user=bob",
)
_MACHINE_LINES: tuple[str, ...] = (
    "API_KEY={v}",
    "export SERVICE_TOKEN={v}",
    'api_key = "{v}"',
    "apiKey: '{v}',",
    '"access_token": "{v}"',
    '"client_secret":"{v}"',
    '{{"arguments": "{{\\"api_key\\": \\"{v}\\"}}"}}',
    "AWS_SECRET_ACCESS_KEY={v}",
    "aws_secret_access_key = {v}",
    "auth_token: {v}",
    "//registry.example.net/:_authToken={v}",
    'clientSecret = "{v}"',
    'const SECRET_KEY = "{v}";',
    "X-Api-Key: {v}",
    '-H "X-Auth-Token: {v}"',
    "SECRET_KEY_BASE={v}",
    "signing_secret: {v}",
    "DATADOG_API_KEY: {v}",
    "https://api.example.net/v1?access_token={v}&page=1",
    'apiToken := "{v}"',
    "encryption_key={v}",
    'webhook_secret: "{v}"',
    "refresh_token={v}",
    "bot_token = '{v}'",
    "TWILIO_AUTH_TOKEN={v}",
    '<add key="ApiKey" value="{v}" />',
    'os.environ["SERVICE_API_KEY"] = "{v}"',
    'config.set("api_token", "{v}")',
    "PRIVATE-TOKEN: {v}",
    "STRIPE_KEY={v}",
)
_SPOKEN_LINES: tuple[str, ...] = (
    "the password is {v}, please log in",
    "My password is {v}",
    "password was {v} before",
    'the admin password is "{v}"',
    "machine db login bob password {v}",
    "use password `{v}` for staging",
)
_FLAG_LINES: tuple[str, ...] = (
    "tool login --password {v}",
    "tool login --password={v}",
    "deploy --token {v} --dry-run",
    "run --api-key {v}",
    "run --client-secret '{v}'",
    'cli --auth-token "{v}" sync',
    "app -password {v}",
    "curl -u bob:{v} http://127.0.0.1/",
    "mysql -u root -p{v} shop",
    "sshpass -p {v} ssh host",
)
_URL_LINES: tuple[str, ...] = (
    "postgres://app:{v}@db.internal:5432/shop",
    "DATABASE_URL=postgresql+asyncpg://app:{v}@db/shop",
    "redis://:{v}@cache:6379/0",
    "mongodb+srv://bob:{v}@cluster0.example.net/?retryWrites=true",
    '"url": "https://bob:{v}@git.example.net/team/app.git"',
    "amqp://svc:{v}@mq:5672/%2f",
    "git clone https://oauth2:{v}@git.example.net/a/b.git",
    "ftp://bob:{v}@files.example.net/in",
)
_HEADER_LINES: tuple[str, ...] = (
    "Authorization: Bearer {v}",
    "authorization: bearer {v}",
    "-H 'Authorization: Bearer {v}'",
    '"Authorization": "Bearer {v}"',
    'headers = {{"Authorization": f"Token {v}"}}',
    "Proxy-Authorization: Bearer {v}",
    '{{"headers": "{{\\"Authorization\\": \\"Bearer {v}\\"}}"}}',
    "> Authorization: token {v}",
    'req.Header.Set("Authorization", "Bearer {v}")',
    "Authorization: ApiKey {v}",
    "Authorization: {v}",
)


def _from_lines(lines: tuple[str, ...], value: Callable[[Draws], str]) -> Callable[[str, Draws], Planted]:
    def plant(kind: str, draw: Draws) -> Planted:
        secret = value(draw)
        return Planted(kind=kind, value=secret, line=draw.choice(lines).format(v=secret))

    return plant


def _url_password(draw: Draws) -> str:
    return draw.choice(
        (drawn(ALNUM, 16, draw), drawn(URLSAFE, 22, draw), quote(_password(draw), safe=""), drawn(HEX, 32, draw))
    )


def _basic(kind: str, draw: Draws) -> Planted:
    value = base64.b64encode(f"bob:{_password(draw)}".encode()).decode()
    carrier = draw.choice(("Authorization: Basic {v}", '"Authorization": "Basic {v}"', "-H 'authorization: Basic {v}'"))
    return Planted(kind=kind, value=value, line=carrier.format(v=value))


_RECIPES: Mapping[str, Callable[[str, Draws], Planted]] = {
    "jwt": _jwt,
    "key-block": _block,
    "key-block-escaped": _escaped_block,
    "in-base64": _in_base64,
    "percent-encoded": _percent,
    "password-assignment": _from_lines(_PASSWORD_LINES, _password),
    "machine-assignment": _from_lines(_MACHINE_LINES, _machine_value),
    "spoken-password": _from_lines(_SPOKEN_LINES, _password),
    "flag": _from_lines(_FLAG_LINES, lambda draw: drawn(ALNUM, 12 + draw.randrange(20), draw)),
    "url-userinfo": _from_lines(_URL_LINES, _url_password),
    "header": _from_lines(_HEADER_LINES, _machine_value),
    "basic-header": _basic,
}
PROVIDER_KINDS: tuple[str, ...] = (*FORMATS, "jwt", "key-block", "key-block-escaped")
CONTEXT_KINDS: tuple[str, ...] = tuple(kind for kind in _RECIPES if kind not in PROVIDER_KINDS)
