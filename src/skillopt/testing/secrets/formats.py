"""What providers' secrets look like, as their own documentation shows them: one small recipe a kind.

Owns the formats only. Written without a look at the rules of `domain.scrub`, so that a test with both means something.
"""

from __future__ import annotations

import base64
import json
import string
from collections.abc import Mapping

from skillopt.domain.seeds import Dice

HEX = "0123456789abcdef"
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
ALNUM = string.ascii_letters + string.digits
URLSAFE = ALNUM + "-_"
BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
BECH32 = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"

_WORDS = ("invoice", "harbour", "parser", "ledger", "worker", "report", "session", "catalog", "render", "upload")
# A recipe is text with fields {letters:length} and {word}; what stands outside a field is literal.
# What stands before a bar is no secret.
_ALPHABETS: Mapping[str, str] = {
    "hex": HEX,
    "HEX": HEX.upper(),
    "lower": LOWER,
    "upper": UPPER,
    "alnum": ALNUM,
    "alpha": string.ascii_letters,
    "url": URLSAFE,
    "digit": string.digits,
    "b64": ALNUM + "+/",
    "b32": BASE32,
    "b58": BASE58,
    "bech": BECH32,
}

FORMATS: Mapping[str, str] = {
    "openai-legacy": "sk-{alnum:20}T3BlbkFJ{alnum:20}",
    "openai-project": "sk-proj-{url:74}T3BlbkFJ{url:74}",
    "openai-service-account": "sk-svcacct-{url:58}T3BlbkFJ{url:58}",
    "anthropic": "sk-ant-api03-{url:93}AA",
    "anthropic-admin": "sk-ant-admin01-{url:93}AA",
    "anthropic-oauth": "sk-ant-oat01-{url:93}AA",
    "deepseek": "sk-{hex:32}",
    "openrouter": "sk-or-v1-{hex:64}",
    "groq": "gsk_{alnum:52}",
    "xai": "xai-{alnum:80}",
    "perplexity": "pplx-{alnum:48}",
    "fireworks": "fw_{alnum:22}",
    "together": "tgp_v1_{url:43}",
    "cerebras": "csk-{lower:48}",
    "nvidia": "nvapi-{url:64}",
    "huggingface": "hf_{alpha:34}",
    "replicate": "r8_{alnum:37}",
    "langsmith": "lsv2_pt_{hex:32}_{hex:10}",
    "tavily": "tvly-dev-{alnum:32}",
    "pinecone": "pcsk_{alnum:6}_{alnum:63}",
    "elevenlabs": "sk_{hex:48}",
    "github-classic": "ghp_{alnum:36}",
    "github-oauth": "gho_{alnum:36}",
    "github-user": "ghu_{alnum:36}",
    "github-server": "ghs_{alnum:36}",
    "github-refresh": "ghr_{alnum:76}",
    "github-fine-grained": "github_pat_{alnum:22}_{alnum:59}",
    "gitlab-personal": "glpat-{url:20}",
    "gitlab-routable": "glpat-{url:27}.01.{lower:9}",
    "gitlab-runner": "glrt-{url:20}",
    "gitlab-deploy": "gldt-{url:20}",
    "bitbucket-app": "ATBB{alnum:32}",
    "atlassian-api": "ATATT3xFfGF0{url:180}={HEX:8}",
    "aws-access-key": "AKIA{b32:16}",
    "aws-temporary-key": "ASIA{b32:16}",
    "google-api": "AIzaSy{url:33}",
    "google-access": "ya29.a0{url:120}",
    "google-client-secret": "GOCSPX-{url:28}",
    "google-refresh": "1//0{digit:1}{url:60}",
    "azure-client-secret": "{alnum:3}8Q~{alnum:34}",
    "azure-storage": "AccountKey=|{b64:86}==",
    "azure-shared-access": "SharedAccessKey=|{b64:43}=",
    "azure-sas": "?sv=2024-11-04&ss=b&sp=rl&se=2027-01-01T00:00:00Z&sig=|{alnum:30}%2B{alnum:11}%3D",
    "slack-bot": "xoxb-{digit:12}-{digit:13}-{alnum:24}",
    "slack-user": "xoxp-{digit:12}-{digit:12}-{digit:13}-{hex:32}",
    "slack-app": "xapp-1-A{upper:10}-{digit:13}-{hex:64}",
    "slack-webhook": "https://hooks.slack.com/services/|T{upper:10}/B{upper:10}/{alnum:24}",
    "stripe-live": "sk_live_51{alnum:97}",
    "stripe-short": "sk_live_{alnum:24}",
    "stripe-test": "sk_test_{alnum:24}",
    "stripe-restricted": "rk_live_{alnum:24}",
    "stripe-webhook": "whsec_{alnum:32}",
    "twilio": "SK{hex:32}",
    "sendgrid": "SG.{url:22}.{url:43}",
    "mailgun": "key-{hex:32}",
    "mailgun-new": "{hex:32}-{hex:8}-{hex:8}",
    "mailchimp": "{hex:32}-us{digit:1}",
    "brevo": "xkeysib-{hex:64}-{alnum:16}",
    "resend": "re_{alnum:8}_{alnum:24}",
    "npm": "npm_{alnum:36}",
    "pypi": "pypi-AgEIcHlwaS5vcmc{url:150}",
    "rubygems": "rubygems_{hex:48}",
    "docker": "dckr_pat_{url:27}",
    "jfrog": "AKCp{alnum:69}",
    "circleci": "CCIPAT_{alnum:22}_{hex:40}",
    "sonar": "squ_{hex:40}",
    "pulumi": "pul-{hex:40}",
    "digitalocean": "dop_v1_{hex:64}",
    "heroku": "HRKU-AA{url:58}",
    "databricks": "dapi{hex:32}",
    "fly": "fo1_{url:43}",
    "netlify": "nfp_{alnum:36}",
    "supabase": "sbp_{hex:40}",
    "planetscale": "pscale_tkn_{url:43}",
    "cloudflare-origin": "v1.0-{hex:24}-{hex:146}",
    "tailscale": "tskey-auth-k{alnum:11}CNTRL-{alnum:32}",
    "vault-service": "hvs.{url:95}",
    "vault-batch": "hvb.{url:138}",
    "terraform": "{alnum:14}.atlasv1.{url:67}",
    "doppler": "dp.pt.{alnum:43}",
    "age": "AGE-SECRET-KEY-1{bech:58}",
    "onepassword-service": "ops_eyJ{alnum:250}",
    "shopify-admin": "shpat_{hex:32}",
    "shopify-shared": "shpss_{hex:32}",
    "square": "sq0csp-{url:43}",
    "square-access": "EAAA{url:60}",
    "facebook": "EAA{alnum:150}",
    "plaid": "access-production-{hex:8}-{hex:4}-{hex:4}-{hex:4}-{hex:12}",
    "razorpay": "rzp_live_{alnum:14}",
    "flutterwave": "FLWSECK-{hex:32}-X",
    "linear": "lin_api_{alnum:40}",
    "notion": "ntn_{digit:11}{alnum:35}",
    "notion-legacy": "secret_{alnum:43}",
    "postman": "PMAK-{hex:24}-{hex:34}",
    "sentry-user": "sntryu_{hex:64}",
    "sentry-org": "sntrys_eyJpYXQiOjE3{alnum:120}_{alnum:43}",
    "newrelic-user": "NRAK-{upper:27}",
    "newrelic-license": "{hex:36}NRAL",
    "grafana-service": "glsa_{alnum:32}_{hex:8}",
    "grafana-cloud": "glc_eyJ{alnum:100}",
    "dynatrace": "dt0c01.{b32:24}.{b32:64}",
    "airtable": "pat{alnum:14}.{hex:64}",
    "figma": "figd_{url:40}",
    "asana": "1/{digit:16}:{hex:32}",
    "hubspot": "pat-na1-{hex:8}-{hex:4}-{hex:4}-{hex:4}-{hex:12}",
    "contentful": "CFPAT-{url:43}",
    "dropbox": "sl.{url:135}",
    "posthog": "phx_{alnum:43}",
    "discord-bot": "MT{alnum:24}.G{url:5}.{url:38}",
    "discord-webhook": "https://discord.com/api/webhooks/|{digit:19}/{url:68}",
    "telegram": "{digit:10}:AA{url:33}",
    "alibaba": "LTAI{alnum:20}",
    "mapbox": "sk.eyJ1Ijoi{alnum:60}.{url:22}",
    "bip32": "xprv9{b58:106}",
}


def drawn(alphabet: str, length: int, draw: Dice) -> str:
    """Return that many letters of the alphabet."""
    return "".join(draw.choices(alphabet, k=length))


def from_recipe(recipe: str, draw: Dice) -> str:
    """Return fresh text of a recipe's form."""
    pieces = []
    for literal, field, length, _ in string.Formatter().parse(recipe):
        pieces.append(literal)
        if field == "word":
            pieces.append(draw.choice(_WORDS))
        elif field is not None:
            pieces.append(drawn(_ALPHABETS[field], int(length or "1"), draw))
    return "".join(pieces)


def web_token(draw: Dice) -> str:
    """Return a signed JSON web token."""
    head = {"alg": "HS256", "typ": "JWT"}
    body = {
        "sub": drawn(string.digits, 10, draw),
        "name": drawn(string.ascii_lowercase, 8, draw),
        "iat": draw.randint(0, 10**9),
    }
    parts = [json.dumps(part, separators=(",", ":")).encode() for part in (head, body)]
    parts.append(draw.randbytes(32))
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


def key_block(draw: Dice) -> str:
    """Return a private key in its armour, many lines."""
    label = draw.choice(
        ("RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY")
    )
    encoded = base64.b64encode(draw.randbytes(draw.randint(120, 900))).decode()
    lines = [encoded[start : start + 64] for start in range(0, len(encoded), 64)]
    return "\n".join((f"-----BEGIN {label}-----", *lines, f"-----END {label}-----"))
