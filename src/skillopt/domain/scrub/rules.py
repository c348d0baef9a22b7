"""The shapes of providers' secrets, as data: what each kind begins with and what follows.

Owns the table and nothing else: how it is searched is `search`'s business. Patterns are RE2 and never match a newline,
so a line can be scrubbed without its neighbours.
"""

from __future__ import annotations

import msgspec

# A secret may follow a letter that is none: the end of an escape, of a colour code, of a percent-encoded sign.
EDGE = r"(?:\b|\\[nrtbf]|%[0-9A-Fa-f]{2}|\\u[0-9a-fA-F]{4}(?:\[[0-9;]*m)?|\x1b\[[0-9;]*m)"


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A kind known by how it begins: any of `prefixes`, then `tail`. A `weak` prefix occurs in ordinary words too."""

    kind: str
    prefixes: tuple[str, ...]
    tail: str
    weak: bool = False


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """A kind without a beginning of its own: `pattern` is tried from `reach` characters before each `marker`.

    A group in `pattern`, if there is one, holds the secret itself.
    """

    kind: str
    marker: str
    reach: int
    pattern: str
    weak: bool = False


def _rule(kind: str, prefixes: str, tail: str) -> Rule:
    return Rule(kind=kind, prefixes=tuple(prefixes.split()), tail=tail)


def _weak(kind: str, prefixes: str, tail: str) -> Rule:
    return Rule(kind=kind, prefixes=tuple(prefixes.split()), tail=tail, weak=True)


def _shape(kind: str, marker: str, reach: int, pattern: str, *, weak: bool = False) -> Shape:
    return Shape(kind=kind, marker=marker, reach=reach, pattern=pattern, weak=weak)


_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
_URLSAFE = r"[A-Za-z0-9_-]"
_BASE64 = r"[A-Za-z0-9+/]"

# The order matters where one prefix begins another: the first that fits names the kind.
RULES: tuple[Rule, ...] = (
    # Models
    _rule("anthropic-key", "sk-ant-", _URLSAFE + r"{20,}"),
    _rule("openrouter-key", "sk-or-", _URLSAFE + r"{20,}"),
    _rule("langfuse-key", "sk-lf- pk-lf-", _UUID),
    _rule("openai-key", "sk-proj- sk-svcacct- sk-admin- sess-", _URLSAFE + r"{20,}"),
    _weak("sk-key", "sk-", _URLSAFE + r"{16,}"),
    _rule("groq-key", "gsk_", r"[A-Za-z0-9]{20,}"),
    _rule("xai-key", "xai-", r"[A-Za-z0-9]{20,}"),
    _rule("perplexity-key", "pplx-", r"[A-Za-z0-9]{20,}"),
    _weak("fireworks-key", "fw_", r"[A-Za-z0-9]{20,}"),
    _rule("together-key", "tgp_v1_", _URLSAFE + r"{20,}"),
    _rule("cerebras-key", "csk-", r"[A-Za-z0-9]{20,}"),
    _rule("nvidia-key", "nvapi-", _URLSAFE + r"{20,}"),
    _weak("voyage-key", "pa-", r"[A-Za-z0-9][A-Za-z0-9_-]{30,}"),
    _rule("jina-key", "jina_", _URLSAFE + r"{20,}"),
    _rule("tavily-key", "tvly-", _URLSAFE + r"{16,}"),
    _rule("pinecone-key", "pcsk_", _URLSAFE + r"{20,}"),
    _rule("anyscale-key", "esecret_", r"[A-Za-z0-9]{20,}"),
    _weak("modal-token", "ak- as-", r"[A-Za-z0-9]{22,}"),
    _rule("firecrawl-key", "fc-", r"[0-9a-f]{32}"),
    _rule("apify-token", "apify_api_", r"[A-Za-z0-9]{20,}"),
    _rule("e2b-key", "e2b_", r"[0-9a-f]{32,}"),
    _rule("runpod-key", "rpa_", r"[A-Za-z0-9]{30,}"),
    _rule("langsmith-key", "lsv2_pt_ lsv2_sk_ ls__", r"[0-9a-f]{32}(?:_[0-9a-f]{10})?"),
    _rule("huggingface-token", "hf_ api_org_", r"[A-Za-z0-9]{30,}"),
    _rule("replicate-token", "r8_", r"[A-Za-z0-9]{20,}"),
    _rule("wandb-key", "wandb_v1_ local-", r"(?:[A-Za-z0-9_]{60,}|[0-9a-f]{40})"),
    _weak("elevenlabs-key", "sk_", r"[0-9a-f]{40,}"),
    # Code hosts, packages, builds
    _rule("github-pat", "ghp_ github_pat_", r"[A-Za-z0-9_]{20,}"),
    _rule("github-token", "gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9_.-]{20,}"),
    _rule(
        "gitlab-token",
        "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct- GR1348941",
        r"[A-Za-z0-9_.-]{16,}",
    ),
    _rule("bitbucket-token", "ATBB", r"[A-Za-z0-9]{24,}"),
    _rule("atlassian-token", "ATATT3 ATCTT3 ATOATT3 ATSTT3", r"[A-Za-z0-9_=-]{20,}"),
    _rule("trello-token", "ATTA", r"[0-9a-f]{32,}"),
    _rule("npm-token", "npm_", r"[A-Za-z0-9]{30,}"),
    _rule("pypi-token", "pypi-AgE pypi-", _URLSAFE + r"{50,}"),
    _rule("rubygems-key", "rubygems_", r"[0-9a-f]{32,}"),
    _weak("nuget-key", "oy2", r"[a-z0-9]{43}"),
    _weak("crates-token", "cio", r"[A-Za-z0-9]{32}"),
    _rule("clojars-token", "CLOJARS_", r"[A-Za-z0-9]{40,}"),
    _rule("packagist-token", "packagist_", r"[a-z]{3}_[0-9a-f]{40,}"),
    _rule("docker-token", "dckr_pat_ dckr_oat_", _URLSAFE + r"{20,}"),
    _rule("jfrog-key", "AKCp cmVmdGtuO", r"[A-Za-z0-9]{40,}"),
    _rule("circleci-token", "CCIPAT_ CCIPRJ_", r"[A-Za-z0-9_]{30,}"),
    _rule("buildkite-token", "bkua_ bkct_", r"[A-Za-z0-9]{20,}"),
    _rule("sonar-token", "sqp_ squ_ sqa_ sqb_", r"[0-9a-f]{40}"),
    _rule("sourcegraph-token", "sgp_ sgd_ slk_", r"[A-Za-z0-9_]{32,}"),
    _rule("pulumi-token", "pul-", r"[0-9a-f]{32,}"),
    _weak("octopus-key", "API-", r"[A-Z0-9]{25,}"),
    _rule("harness-token", "pat. sat.", r"[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}"),
    _rule("infracost-key", "ico-", r"[A-Za-z0-9]{32}"),
    _weak("prefect-key", "pnu_ pnb_", r"[A-Za-z0-9]{36}"),
    # Clouds and hosting
    _rule("aws-access-key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}\b"),
    _rule("aws-bedrock-key", "ABSK bedrock-api-key-", _BASE64 + r"{40,}={0,2}"),
    _rule("aws-session-token", "FwoGZXIvYXdz IQoJb3JpZ2lu", _BASE64 + r"{40,}={0,2}"),
    _rule("aws-mws-token", "amzn.mws.", _UUID),
    _rule("google-api-key", "AIza", _URLSAFE + r"{35}"),
    _rule("google-api-key", "AQ.Ab", _URLSAFE + r"{30,}"),
    _rule("google-oauth-token", "ya29. 1//0", r"[A-Za-z0-9_.-]{20,}"),
    _rule("google-oauth-secret", "GOCSPX-", _URLSAFE + r"{20,}"),
    _weak("recaptcha-secret", "6Lc 6Le 6Ld 6Lf", _URLSAFE + r"{37}\b"),
    _rule("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{40,}"),
    _rule("heroku-key", "HRKU-", _URLSAFE + r"{30,}"),
    _rule("cloudflare-key", "v1.0-", r"[0-9a-f]{24}-[0-9a-f]{100,}"),
    _rule("cloudflare-token", "cfut_ cfat_ cfk_", _URLSAFE + r"{30,}"),
    _rule("alibaba-key", "LTAI", r"[A-Za-z0-9]{12,30}\b"),
    _rule("tencent-key", "AKID", r"[A-Za-z0-9]{32}"),
    _rule("yandex-key", "AQVN y0_", r"[A-Za-z0-9_-]{35,}"),
    _rule("yandex-key", "t1.9eu", r"[A-Za-z0-9_=-]{20,}\.[A-Za-z0-9_=-]{40,}"),
    _rule("fly-token", "fm1_ fm2_ fm1r_ fo1_", r"[A-Za-z0-9+/_=-]{40,}"),
    _rule("netlify-token", "nfp_ nfo_ nfb_", r"[A-Za-z0-9]{30,}"),
    _rule("vercel-token", "vcp_ vck_ vci_ vca_ vcr_ vercel_blob_rw_", r"[A-Za-z0-9_]{24,}"),
    _rule("render-key", "rnd_", r"[A-Za-z0-9]{24,}"),
    _rule("scalingo-token", "tk-us-", _URLSAFE + r"{40,}"),
    _rule("tailscale-key", "tskey-", r"[a-z]+-[A-Za-z0-9]+(?:-[A-Za-z0-9]+)?"),
    _rule("openshift-token", "sha256~", _URLSAFE + r"{43}"),
    # Secret stores and identity
    _rule("vault-token", "hvs. hvb. hvr.", _URLSAFE + r"{20,}"),
    _weak("vault-token", "s.", r"[A-Za-z0-9]{24}\b"),
    _rule(
        "doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{30,}"
    ),
    _rule("onepassword-token", "ops_eyJ", r"[A-Za-z0-9+/_=-]{40,}"),
    _rule("onepassword-key", "A3-", r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    _rule("infisical-token", "st.", r"[0-9a-f-]{24,36}\.[0-9a-f]{32}\.[0-9a-f]{32}"),
    _rule("age-secret-key", "AGE-SECRET-KEY-1 AGE-PLUGIN-", r"[0-9A-Z-]{40,}"),
    _rule("stytch-secret", "secret-live- secret-test-", r"[A-Za-z0-9_=-]{30,}"),
    _rule("jwt", "eyJ", r"[A-Za-z0-9_-]{10,}={0,2}\.(?:eyJ)?[A-Za-z0-9_-]{10,}={0,2}(?:\.[A-Za-z0-9_-]*){0,3}"),
    _rule("jwe", "eyJ", r"[A-Za-z0-9_-]{10,}\.\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    _rule("mapbox-token", "sk.eyJ pk.eyJ tk.eyJ", r"[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    # Chat and mail
    _rule(
        "slack-token",
        "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxc- xoxd- xoxe- xoxe.xoxb- xoxe.xoxp- xapp- xwfp-",
        r"[A-Za-z0-9%/+=-]{10,}",
    ),
    _rule("slack-webhook", "hooks.slack.com/", r"(?:services|workflows|triggers)/[A-Za-z0-9+/_-]{20,}"),
    _rule(
        "discord-webhook", "discord.com/api/webhooks/ discordapp.com/api/webhooks/", r"[0-9]{15,20}/[A-Za-z0-9_-]{40,}"
    ),
    _rule("discord-token", "mfa.", _URLSAFE + r"{60,}"),
    _rule("teams-webhook", "webhook.office.com/webhookb2/", r"[A-Za-z0-9@/-]{60,}"),
    _rule("zapier-webhook", "hooks.zapier.com/hooks/catch/", r"[0-9]+/[A-Za-z0-9]{5,}"),
    _rule("twilio-key", "SK", r"[0-9a-f]{32}\b"),
    _rule("sendgrid-key", "SG.", r"[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    _rule("mailgun-key", "key- pubkey-", r"[0-9a-f]{32}\b"),
    _weak("mandrill-key", "md-", r"[A-Za-z0-9][A-Za-z0-9_-]{21}\b"),
    _rule("brevo-key", "xkeysib- xsmtpsib-", r"[0-9a-f]{40,}-[A-Za-z0-9]{16}"),
    _weak("resend-key", "re_", r"[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,}"),
    _rule("onesignal-key", "os_v2_app_ os_v2_org_", r"[a-z0-9]{60,}"),
    # Money and shops
    _rule("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_ sk_org_", r"[A-Za-z0-9_]{16,}"),
    _rule("webhook-secret", "whsec_", r"[A-Za-z0-9+/=]{20,}"),
    _rule("shopify-token", "shpat_ shpca_ shppa_ shpss_ shpua_", r"[0-9a-fA-F]{32}"),
    _rule("square-token", "sq0atp- sq0csp- sq0idp-", _URLSAFE + r"{20,}"),
    _rule("square-token", "EAAA", r"[A-Za-z0-9_-]{55,}"),
    _rule("facebook-token", "EAA", r"[A-Za-z0-9]{50,}"),
    _rule("instagram-token", "IGQV IGAA", _URLSAFE + r"{50,}"),
    _rule("paypal-token", "access_token$", r"[a-z]+\$[a-z0-9]{16}\$[0-9a-f]{32}"),
    _rule("plaid-token", "access-sandbox- access-development- access-production-", _UUID),
    _rule("razorpay-key", "rzp_live_ rzp_test_", r"[A-Za-z0-9]{14,}"),
    _rule("flutterwave-key", "FLWSECK- FLWSECK_TEST- FLWPUBK_TEST-", r"[0-9a-f]{12,32}-X"),
    _rule("easypost-key", "EZAK EZTK", r"[A-Za-z0-9]{54}"),
    _rule("shippo-token", "shippo_live_ shippo_test_", r"[0-9a-f]{40}"),
    _rule("duffel-token", "duffel_test_ duffel_live_", _URLSAFE + r"{40,}"),
    _weak("live-key", "live_ test_", r"(?:[A-Za-z0-9]{30,}|[0-9a-f]{35})\b"),
    # Work tools, data and monitoring
    _rule("linear-key", "lin_api_ lin_oauth_ lin_wh_", r"[A-Za-z0-9]{30,}"),
    _weak("notion-token", "secret_ ntn_", r"[A-Za-z0-9]{40,}"),
    _rule("postman-key", "PMAK- PMAT-", r"[A-Za-z0-9]{20,}(?:-[0-9a-f]{20,})?"),
    _rule("sentry-token", "sntrys_ sntryu_ sntrya_", r"[A-Za-z0-9+/=_-]{30,}"),
    _rule("newrelic-key", "NRAK- NRII- NRJS- NRRA- NRAA- NRSP- NRIQ-", _URLSAFE + r"{19,}"),
    _rule("grafana-token", "glsa_ glc_ eyJrIjoi", r"[A-Za-z0-9+/=_]{30,}"),
    _rule("databricks-token", "dapi dose dkea", r"[0-9a-f]{32}(?:-[0-9])?"),
    _rule("dynatrace-token", "dt0c01. dt0s01. dt0s02. dt0s16.", r"[A-Z0-9]{8,24}\.[A-Z0-9]{64}"),
    _rule("honeycomb-key", "hcaik_ hcxik_ hcalk_ hcblk_ hcamk_", r"[a-z0-9]{50,}"),
    _rule("launchdarkly-key", "sdk- api- mob-", _UUID),
    _rule("posthog-key", "phx_ phs_", r"[A-Za-z0-9]{40,}"),
    _rule("dropbox-token", "sl.", r"(?:u\.)?[A-Za-z0-9_-]{60,}"),
    _rule("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    _rule("figma-token", "figd_ figdr_ figo_ figu_", _URLSAFE + r"{20,}"),
    _rule("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_.=-]{30,}"),
    _rule("supabase-key", "sbp_ sb_secret_", _URLSAFE + r"{20,}"),
    _rule("neon-key", "napi_", r"[a-z0-9]{40,}"),
    _rule("mongodb-key", "mdb_sa_sk_", _URLSAFE + r"{30,}"),
    _rule("contentful-token", "CFPAT-", _URLSAFE + r"{40,}"),
    _rule("typeform-token", "tfp_", r"[A-Za-z0-9_.=-]{40,}"),
    _rule("intercom-token", "dG9rO", r"[A-Za-z0-9+/=_-]{30,}"),
    _rule("hubspot-token", "pat-na1- pat-na2- pat-eu1- pat-ap1-", _UUID),
    _rule("frameio-token", "fio-u-", _URLSAFE + r"{40,}"),
    _rule("readme-key", "rdme_", r"[a-z0-9]{40,}"),
    _weak("adobe-secret", "p8e-", r"[A-Za-z0-9_-]{32}"),
    _rule("lichess-token", "lip_ lio_", r"[A-Za-z0-9]{20,}"),
    _rule("bitcoin-key", "xprv", r"[1-9A-HJ-NP-Za-km-z]{100,}"),
    _rule("vk-token", "vk1.a.", _URLSAFE + r"{40,}"),
    _rule("twitter-token", "AAAAAAAAAAAAAAAAAAAAA", r"[A-Za-z0-9%]{40,}"),
)

SHAPES: tuple[Shape, ...] = (
    _shape(
        "azure-shared-key",
        r"(?i:AccountKey|SharedAccessKey|SharedSecretValue)[ \t]?=",
        0,
        r"(?i:AccountKey|SharedAccessKey|SharedSecretValue)[ \t]?=[ \t]?([A-Za-z0-9+/%]{20,}={0,2})",
    ),
    _shape("azure-sas-signature", r"[?&; \"']sig=", 0, r"[?&; \"']sig=([A-Za-z0-9%+/_-]{20,}={0,2})"),
    _shape("azure-client-secret", r"[0-9]Q~[A-Za-z0-9_~.-]{8}", 3, r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,37}"),
    _shape("openai-key", r"T3BlbkFJ[A-Za-z0-9]", 200, r"[A-Za-z0-9_-]{10,}T3BlbkFJ[A-Za-z0-9_-]{10,}"),
    _shape(
        "azure-key",
        r"(?:AzSe|AzFu|\+ACR|\+ASt|ACDb|AZDO|JQQJ99)[A-Za-z0-9]{4}",
        80,
        r"\b[A-Za-z0-9+/_-]{40,76}(?:AzSe|AzFu|\+ACR|\+ASt|ACDb|AZDO|JQQJ99)[A-Za-z0-9+/_-]{4,40}={0,2}",
    ),
    _shape(
        "ngrok-token", EDGE + r"[12][A-Za-z0-9]{26}_[0-9A-Za-z]{20}", 0, r"[12][A-Za-z0-9]{26}_[0-9A-Za-z]{20,22}\b"
    ),
    _shape("terraform-token", r"\.atlasv1\.", 14, r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}"),
    _shape(
        "discord-token",
        r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{20}",
        28,
        r"[A-Za-z0-9_-]{23,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}",
    ),
    _shape("telegram-token", r"[0-9]{8}:[A-Za-z0-9_-]{20}", 2, r"[0-9]{8,10}:[A-Za-z0-9_-]{34,36}\b"),
    _shape("mailgun-key", r"[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}\b", 24, r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}\b"),
    _shape("mailchimp-key", r"[0-9a-f]{8}-us[0-9]", 24, r"[0-9a-f]{32}-us[0-9]{1,2}\b"),
    _shape("newrelic-license", r"NRAL\b", 40, r"[0-9a-fA-Fxu]{32,40}NRAL\b"),
    _shape("asana-token", EDGE + r"[0-2]/[0-9]{13}", 0, r"[0-2]/[0-9]{13,18}(?:/[0-9]{13,18})?:[0-9a-f]{32}\b"),
    _shape("clickup-token", EDGE + r"pk_[0-9]{5}", 0, r"pk_[0-9]{5,10}_[A-Z0-9]{32}\b"),
    _shape("maxmind-key", r"_mmk\b", 36, r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk\b"),
    # Any vendor_use_secret shape that no line above names.
    _shape(
        "prefixed-key",
        r"_(?:live|prod|sk|pat|secret|api|sec|key|token)_[A-Za-z0-9]{20}",
        12,
        r"\b[a-z][a-z0-9]{1,9}_(?:live|prod|sk|pat|secret|api|sec|key|token)_[A-Za-z0-9]{20,}",
        weak=True,
    ),
)
