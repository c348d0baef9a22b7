"""Nothing of the person is told to a model: words planted in their home, in their environment and in every folder
around the project are looked for in all that the scripted server was sent, and a plain start of the same program
shows that it would find them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from skillopt.testing.server.ledger import redacted
from tests.agents_real.product import KEY, PATIENCE, Product

CANARY = "yellowbird"


@pytest.fixture
def product(every: Product) -> Product:
    """Return a project for each program there is."""
    return every


def planted(product: Product) -> None:
    """Put the canary wherever these programs are known to look; none of these files may be read, run or changed."""
    touched = product.folder / "hook-was-here"
    hook = {"hooks": [{"type": "command", "command": f"touch {touched}"}]}
    server = {"mcpServers": {CANARY: {"command": "touch", "args": [str(touched)]}}}
    settings = {"env": {"A": CANARY}, "model": f"model-{CANARY}", "hooks": {"SessionStart": [hook]}}
    home, above = product.home, product.folder
    files = dict(_instructions(home)) | dict(_instructions(above)) | dict(_instructions(product.project))
    files |= dict(_instructions(product.temporary))
    files |= {
        home / ".claude/settings.json": json.dumps(settings),
        home / ".claude.json": json.dumps(server),
        above / ".claude/settings.json": json.dumps(settings),
        above / ".mcp.json": json.dumps(server),
        product.temporary / ".mcp.json": json.dumps(server),
        home / ".codex/config.toml": f'model = "model-{CANARY}"\ndeveloper_instructions = "{CANARY}"\n',
        home / ".config/opencode/opencode.json": json.dumps(
            {"instructions": [f"{home}/{CANARY}.md"], "model": f"scripted/model-{CANARY}"}
        ),
        home / f"{CANARY}.md": CANARY,
        above / "opencode.json": json.dumps({"instructions": [f"{home}/{CANARY}.md"]}),
        home / ".local/share/opencode/auth.json": json.dumps({"scripted": {"type": "api", "key": CANARY}}),
        home / ".copilot/config.json": json.dumps({"model": f"model-{CANARY}", "hooks": {"sessionStart": [hook]}}),
        home / ".copilot/mcp-config.json": json.dumps(server),
        home / ".claude/.credentials.json": json.dumps({"claudeAiOauth": {"accessToken": CANARY}}),
        home / ".codex/auth.json": json.dumps({"OPENAI_API_KEY": CANARY}),
    }
    for place, text in files.items():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    (above / ".git").mkdir()
    product.env |= {
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "CODEX_HOME": str(home / ".codex"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "OPENAI_API_KEY": f"key-{CANARY}",
        "ANTHROPIC_API_KEY": f"key-{CANARY}",
        "ANTHROPIC_CUSTOM_HEADERS": f"x-bird: {CANARY}",
        "ANTHROPIC_MODEL": f"model-{CANARY}",
        "COPILOT_HOME": str(home / ".copilot"),
        "COPILOT_MODEL": f"model-{CANARY}",
        "COPILOT_PROVIDER_API_KEY": f"key-{CANARY}",
        "COPILOT_GITHUB_TOKEN": f"key-{CANARY}",
        "GITHUB_TOKEN": f"key-{CANARY}",
        "OPENCODE_CONFIG": str(home / ".config/opencode/opencode.json"),
    }


def _instructions(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files of instructions and of skills, as programs of every kind look for them."""
    for name in (
        *("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", ".claude/CLAUDE.md", ".codex/AGENTS.md"),
        *(".copilot/copilot-instructions.md", ".github/copilot-instructions.md", ".config/opencode/AGENTS.md"),
    ):
        yield folder / name, f"Remember the {CANARY}.\n"
    for place in (".claude", ".agents", ".codex", ".config/opencode", ".opencode", ".copilot", ".github"):
        text = f"---\nname: {CANARY}\ndescription: Use this {CANARY} for every entry.\n---\nSing {CANARY}.\n"
        yield folder / place / "skills" / CANARY / "SKILL.md", text
    yield folder / ".claude/commands/entry.md", f"Sing {CANARY}.\n"
    yield folder / ".claude/rules/entry.md", f"Sing {CANARY}.\n"
    yield (
        folder / ".claude/agents/entry.md",
        f"---\nname: entry\ndescription: Use this {CANARY} for every entry.\n---\nSing {CANARY}.\n",
    )


def sent(product: Product) -> list[str]:
    """Return everything that the server was sent: paths, headers and bodies; keys only as their digests."""
    return [f"{each.path}\n{json.dumps(each.headers)}\n{each.body}" for each in product.server.log()]


def assert_no_canary(product: Product) -> None:
    requests = product.server.log()
    assert requests
    assert [text for text in sent(product) if CANARY in text] == []
    keys = {
        value for each in requests for name, value in each.headers.items() if name in {"authorization", "x-api-key"}
    }
    assert keys <= {redacted(KEY), redacted(f"Bearer {KEY}")}
    assert not (product.folder / "hook-was-here").exists()


@pytest.mark.parametrize("skill", ["native", "told"])
@pytest.mark.parametrize("sandbox", ["bubblewrap", "none"])
def test_an_agent_tells_its_model_nothing_of_the_person(product: Product, skill: str, sandbox: str) -> None:
    planted(product)
    product.world(1, 2, 1)
    product.write(agent={"skill": skill, "sandbox": sandbox})
    said = product.evaluate("--trust")
    assert (said.code, said.summary["failed"]) == (0, 0), said.err
    assert {seen.skill_opened for seen in product.transcripts()} == {"yes"}
    assert_no_canary(product)


def test_an_optimizer_that_is_asked_is_told_nothing_of_the_person(product: Product) -> None:
    planted(product)
    product.world(2, 1, 1)
    product.write(
        target={"backend": "scripted", "scenario": "rules"},
        optimizer=product.behind("agent-rules", "scripted-optimizer"),
    )
    said = product.train()
    assert said.code == 0, said.err
    assert_no_canary(product)


def plainly(backend: str, url: str) -> tuple[list[str], dict[str, str]]:
    """Return the words and the environment that lead a program to this model, as its own user would start it."""
    if backend == "codex":
        told = (f'base_url="{url}"', 'name="s"', 'wire_api="responses"')
        settings = ('model_provider="s"', *(f"model_providers.s.{each}" for each in told))
        return ["exec", "--skip-git-repo-check", *(word for each in settings for word in ("-c", each)), "Hello."], {}
    if backend == "claude_code":
        return ["-p", "Hello."], {"ANTHROPIC_BASE_URL": url.removesuffix("/v1"), "DISABLE_AUTOUPDATER": "1"}
    if backend == "copilot":
        env = {"COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false", "COPILOT_PROVIDER_BASE_URL": url}
        return ["-p", "Hello."], env | {"COPILOT_PROVIDER_TYPE": "openai"}
    models: dict[str, object] = {f"model-{CANARY}": {}}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": url, "apiKey": "k"}, "models": models}
    config = json.dumps({"provider": {"scripted": provider}})
    quiet = {"npm_config_registry": "http://127.0.0.1:9", "npm_config_fetch_retries": "0"}
    off = dict.fromkeys(("OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_AUTOUPDATE"), "1")
    return ["run", "Hello."], {"OPENCODE_CONFIG_CONTENT": config} | quiet | off


def test_the_same_program_started_plainly_tells_of_the_person(product: Product) -> None:
    planted(product)
    words, env = plainly(product.backend, product.server.url("echo"))
    subprocess.run(
        [str(product.program), *words],
        env=product.env | env,
        cwd=product.project,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    told = "".join(sent(product))
    assert f"Remember the {CANARY}." in told, "its instructions"
    assert f"Use this {CANARY} for every entry." in told, "its skills"
    assert f"model-{CANARY}" in told, "its settings"
