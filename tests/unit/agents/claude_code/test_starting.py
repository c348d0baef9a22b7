from __future__ import annotations

import base64
from pathlib import Path

import msgspec
import pytest

from skillopt.agents.claude_code.starting import command
from skillopt.agents.program import Job, Model
from skillopt.agents.settings import AgentSettings
from skillopt.domain.errors import UsageError
from tests.unit.agents.claude_code.stand import AGENT, JOB, MODEL


def job(**changed: object) -> Job:
    return msgspec.structs.replace(JOB, **changed)


def agent(**changed: object) -> Job:
    return job(agent=msgspec.structs.replace(AGENT, **changed))


def value(args: tuple[str, ...], option: str) -> str:
    return args[args.index(option) + 1]


def test_an_agent_sees_its_folder_and_nothing_of_the_person() -> None:
    made = command(JOB)
    assert value(made.args, "--setting-sources") == "project"
    assert value(made.args, "--tools") == "Read,Glob,Grep,Edit,Write,Bash,Skill"
    assert value(made.args, "--permission-mode") == "dontAsk"
    assert value(made.args, "--model") == "claude-sonnet-4-5"
    assert {"-p", "--strict-mcp-config", "--verbose"} <= set(made.args)
    assert not any("bypass" in word or "dangerously" in word for word in made.args)
    assert made.env["CLAUDE_CONFIG_DIR"] == "/home/agent/.claude"
    assert made.env["CLAUDE_CODE_DISABLE_CLAUDE_MDS"] == made.env["CLAUDE_CODE_DISABLE_FILE_MENTIONS"] == "1"
    assert made.stdin == b"Do it."


def test_there_is_one_layer_of_retries_and_the_programs_time_outs_come_first() -> None:
    env = command(job(seconds=100.0)).env
    assert env["CLAUDE_CODE_MAX_RETRIES"] == "0"
    assert env["API_TIMEOUT_MS"] == env["CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS"] == "95000"
    assert command(job(seconds=2.0)).env["CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS"] == "10000"


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "http://127.0.0.1:9/", "http://127.0.0.1:9/v1"])
def test_an_address_is_told_without_its_version(address: str) -> None:
    env = command(job(model=msgspec.structs.replace(MODEL, base_url=address))).env
    assert env["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:9"


def test_a_key_is_in_the_environment_only() -> None:
    made = command(JOB)
    assert made.env["ANTHROPIC_API_KEY"] == "a-key"
    assert not any("a-key" in word for word in (*made.args, *made.home_files.values()))


def test_a_command_in_its_shell_does_not_see_the_key() -> None:
    made = command(JOB)
    assert made.env["CLAUDE_ENV_FILE"] == "/home/agent/shell.sh"
    assert made.home_files == {"shell.sh": "unset ANTHROPIC_API_KEY\n"}
    assert not command(job(agent=None)).home_files


def test_a_server_without_a_key_never_gets_the_persons_login() -> None:
    env = command(job(model=Model(name=None, base_url="http://127.0.0.1:9", key=None))).env
    assert env["ANTHROPIC_API_KEY"] == "none"
    assert "ANTHROPIC_API_KEY" not in command(job(model=Model(name=None, base_url=None, key=None))).env
    assert "--model" not in command(job(model=Model(name=None, base_url=None, key=None))).args


def test_what_is_asked_for_besides_is_told() -> None:
    made = command(
        job(
            agent=AgentSettings(thinking_tokens=2048),
            schema="{}",
            effort="low",
            system="Be brief.",
            data_dirs=("/job/data/docs", "/elsewhere"),
        )
    )
    assert made.env["MAX_THINKING_TOKENS"] == "2048"
    assert (value(made.args, "--effort"), value(made.args, "--json-schema")) == ("low", "{}")
    assert value(made.args, "--append-system-prompt-file") == "/home/agent/system.md"
    assert made.home_files["system.md"] == "Be brief."
    assert value(made.args, "--add-dir") == "/elsewhere"
    assert "/job/data/docs" not in made.args


def test_no_tools_at_all_is_said_as_such() -> None:
    args = command(agent(tools=(), skill="told")).args
    assert value(args, "--tools") == ""
    assert "--allowedTools" not in args


def test_images_of_an_agent_are_attached_by_the_program() -> None:
    made = command(job(images=("/job/attachments/01_a b.png",)))
    assert made.stdin == b'Do it.\n\n@"/job/attachments/01_a b.png"'
    assert "CLAUDE_CODE_DISABLE_FILE_MENTIONS" not in made.env


def test_a_model_that_is_asked_once_has_no_tools_and_no_skills() -> None:
    made = command(job(agent=None, system="Be brief."))
    assert {"--bare", "--disable-slash-commands", "--no-session-persistence"} <= set(made.args)
    assert value(made.args, "--tools") == ""
    assert value(made.args, "--system-prompt-file") == "/home/agent/system.md"
    assert "--setting-sources" not in made.args


def test_images_of_a_question_go_in_with_it(tmp_path: Path) -> None:
    image = tmp_path / "a.png"
    image.write_bytes(b"pixels")
    made = command(job(agent=None, prompt="/look", images=(str(image),)))
    assert value(made.args, "--input-format") == "stream-json"
    content = msgspec.json.decode(made.stdin)["message"]["content"]
    data = base64.b64encode(b"pixels").decode()
    assert content[0] == {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    assert content[1] == {"type": "text", "text": "\n/look"}


@pytest.mark.parametrize(("name", "says"), [("a.png", "cannot be read"), ("a.pdf", "no ending of an image")])
def test_what_is_no_image_is_refused(tmp_path: Path, name: str, says: str) -> None:
    if name.endswith("pdf"):
        (tmp_path / name).write_bytes(b"%PDF")
    with pytest.raises(UsageError, match=says):
        command(job(agent=None, images=(str(tmp_path / name),)))


@pytest.mark.parametrize("asked", [AGENT, None])
def test_a_prompt_is_never_a_command_of_the_program(asked: AgentSettings | None) -> None:
    assert command(job(agent=asked, prompt="/compact now")).stdin == b"\n/compact now"


def test_half_a_character_is_no_obstacle() -> None:
    made = command(job(agent=None, prompt="a\ud800", system="b\ud800"))
    assert (made.stdin, made.home_files) == (b"a?", {"system.md": "b?"})


@pytest.mark.parametrize(
    ("refused", "says"),
    [
        (agent(profile="mine"), r"agent\.profile"),
        (agent(thinking_tokens=-1), r"agent\.thinking_tokens"),
        (job(effort="hard"), r"Unknown agent\.effort"),
        (job(agent=None, effort="hard"), r"Unknown models\.<role>\.effort"),
        (job(model=msgspec.structs.replace(MODEL, wire="chat")), r"models\.<role>\.wire is chat"),
        (job(agent=None, model=Model(name="m", base_url=None, key=None)), "with an API key only"),
    ],
)
def test_what_it_cannot_do_is_refused_by_the_key_that_asks_for_it(refused: Job, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        command(refused)


@pytest.mark.parametrize("mode", ["auto", "sdk"])
def test_the_mode_alone_changes_no_word_of_the_command_line(mode: str) -> None:
    assert command(agent(mode=mode)).args == command(JOB).args
