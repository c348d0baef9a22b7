from __future__ import annotations

import asyncio
import os
from pathlib import Path

import msgspec
import pytest

from skillopt.agents.claude_code.settings import ClaudeCodeSettings
from skillopt.agents.codex.adapter import CodexSettings
from skillopt.agents.finding import Program
from skillopt.agents.settings import AgentSettings, CliSettings
from skillopt.app.config import Config
from skillopt.app.programs.adapters import ADAPTERS
from skillopt.app.programs.teams import Place, Programs, adapter_of, find_programs, key_of, key_reference_of
from skillopt.domain.errors import NotInstalledError, UsageError
from skillopt.kernel.sandbox import Sandbox, Tier
from tests.unit.agents.sdks import python_with
from tests.unit.app.projects import as_dict, settings

LOCAL = "http://127.0.0.1:1/v1"
SAYS = "#!/bin/sh\necho 1.2.3\n"


def program(folder: Path, name: str = "codex", says: str = SAYS) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(says)
    path.chmod(0o755)
    return path


def config(kind: str = "dataset", agent: dict[str, object] | None = None, **models: dict[str, str]) -> Config:
    tree = settings(environment={"kind": kind, "path": "tasks"}, agent=agent or {})
    as_dict(tree["models"]).update(models)
    return msgspec.convert(tree, Config)


@pytest.mark.parametrize(
    ("model", "reference"),
    [
        (CodexSettings(), None),
        (CodexSettings(api_key="none"), None),
        (CodexSettings(api_key="${MINE}"), "${MINE}"),
        (CodexSettings(base_url=LOCAL), None),
        (CodexSettings(base_url=LOCAL, api_key="none"), None),
        (CodexSettings(base_url="https://api.openai.com/v1"), "${OPENAI_API_KEY}"),
        (CodexSettings(base_url="https://api.openai.com/v1", api_key="none"), None),
        (CodexSettings(base_url="https://gateway.example.com/v1"), None),
        (ClaudeCodeSettings(base_url="https://api.anthropic.com"), "${ANTHROPIC_API_KEY}"),
        (ClaudeCodeSettings(base_url="https://api.anthropic.com.example.com"), None),
    ],
)
def test_the_usual_key_goes_to_its_own_host_and_every_other_by_word(model: CliSettings, reference: str | None) -> None:
    assert key_reference_of(model) == reference


def test_a_key_is_read_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    key = key_of(CodexSettings(api_key="${MINE}", base_url=LOCAL))
    assert key is not None
    monkeypatch.setenv("MINE", "sk-one")
    assert key() == "sk-one"
    monkeypatch.setenv("MINE", "sk-two")
    assert key() == "sk-two"
    monkeypatch.delenv("MINE")
    with pytest.raises(UsageError, match="MINE"):
        key()


def test_a_key_does_not_travel_in_the_clear() -> None:
    with pytest.raises(UsageError, match="would travel unencrypted"):
        key_of(CodexSettings(api_key="${MINE}", base_url="http://gateway.example.com/v1"))
    assert key_of(CodexSettings(api_key="none", base_url="http://gateway.example.com/v1")) is None


def test_every_backend_of_a_program_has_who_speaks_for_it() -> None:
    assert {name: adapter.name for name, adapter in ADAPTERS.items()} == {name: name for name in ADAPTERS}
    assert adapter_of(CodexSettings()) is ADAPTERS["codex"]
    assert adapter_of(ClaudeCodeSettings()) is ADAPTERS["claude_code"]


def test_a_config_without_an_agents_program_looks_for_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert dict(asyncio.run(find_programs(config(), tmp_path)).found) == {}


def test_each_program_is_found_for_what_it_is_named_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = program(tmp_path / "bin")
    mine = program(tmp_path / "tools", "mine")
    monkeypatch.setenv("PATH", f"{usual.parent}{os.pathsep}/usr/bin:/bin")
    codex = {"backend": "codex"}
    places = {
        key: each.path
        for key, each in asyncio.run(
            find_programs(config("agent", {"path": "tools/mine"}, target=codex, optimizer=codex), tmp_path)
        ).found.items()
    }
    assert places == {("codex", "tools/mine"): mine, ("codex", None): mine}
    asked = config(target=codex, optimizer={"backend": "codex", "path": "tools/mine"})
    places = {key: each.path for key, each in asyncio.run(find_programs(asked, tmp_path)).found.items()}
    assert places == {("codex", None): usual, ("codex", "tools/mine"): mine}


def test_a_program_that_is_missing_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotInstalledError, match=r"npm install --global @openai/codex"):
        asyncio.run(find_programs(config(target={"backend": "codex"}), tmp_path))


CODEX = Program(path=Path("/usr/bin/codex"), version="1.2.3", readable=(), search="/usr/bin")
FOUND: dict[Place, Program] = {("codex", None): CODEX}
MODEL = CodexSettings(model="m", base_url=LOCAL)


def test_without_a_sandbox_no_agent_is_sent_unless_the_person_wants_that(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"agent\.sandbox: none"):
        Programs(found=FOUND).sent(MODEL, AgentSettings(), tmp_path)
    agent = Programs(found=FOUND).sent(MODEL, AgentSettings(sandbox="none"), tmp_path)
    assert agent.identity.backend == "codex 1.2.3"
    confined = Programs(found=FOUND, sandbox=Sandbox(Tier.BUBBLEWRAP)).sent(MODEL, AgentSettings(), tmp_path)
    assert confined.identity != agent.identity
    assert (confined.identity.address, confined.identity.model) == (LOCAL, "m")


def test_a_model_that_is_asked_once_is_so_with_or_without_a_sandbox() -> None:
    confined = Programs(found=FOUND, sandbox=Sandbox(Tier.BUBBLEWRAP)).asked_once(MODEL)
    assert Programs(found=FOUND).asked_once(MODEL).identity == confined.identity


def test_an_address_that_is_none_is_refused_before_anything_runs(tmp_path: Path) -> None:
    wrong = msgspec.structs.replace(MODEL, base_url="http://host:port/v1")
    programs = Programs(found=FOUND, sandbox=Sandbox(Tier.BUBBLEWRAP))
    with pytest.raises(UsageError, match="host:port"):
        programs.sent(wrong, AgentSettings(), tmp_path)
    with pytest.raises(UsageError, match="host:port"):
        programs.asked_once(wrong)


@pytest.mark.parametrize(
    ("kind", "mode", "installed", "named"),
    [
        ("agent", "auto", True, "codex 1.2.3 by sdk 0.1.99"),
        ("agent", "sdk", True, "codex 1.2.3 by sdk 0.1.99"),
        ("agent", "cli", True, "codex 1.2.3"),
        ("agent", "auto", False, "codex 1.2.3"),
    ],
)
def test_an_agent_is_driven_by_the_sdk_of_the_python_that_runs_skillopt_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, mode: str, installed: bool, named: str
) -> None:
    files = {"openai_codex_sdk/__init__.py": "", "openai_codex_sdk/errors.py": "CodexSdkError = ValueError\n"}
    info = {"openai_codex_sdk-0.1.99.dist-info/METADATA": ""}
    python = python_with(tmp_path / "env", files | info if installed else {})
    monkeypatch.setenv("PATH", os.pathsep.join((str(program(tmp_path / "bin").parent), os.environ["PATH"])))
    told = config(kind, agent={"mode": mode, "sandbox": "none"}, target={"backend": "codex"})
    programs = asyncio.run(find_programs(told, tmp_path, python=python))
    sent = programs.sent(CodexSettings(), told.agent, tmp_path)
    once = programs.asked_once(CodexSettings())
    assert (sent.identity.backend, once.identity.backend) == (named, "codex 1.2.3")


def test_an_sdk_that_is_wanted_and_not_installed_is_told_with_the_line_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = python_with(tmp_path / "env")
    monkeypatch.setenv("PATH", os.pathsep.join((str(program(tmp_path / "bin").parent), os.environ["PATH"])))
    told = config("agent", agent={"mode": "sdk"}, target={"backend": "codex"})
    with pytest.raises(UsageError, match=r"pip install 'skillopt\[codex\]'"):
        asyncio.run(find_programs(told, tmp_path, python=python))
