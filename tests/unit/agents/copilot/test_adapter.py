from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from skillopt.agents.copilot.adapter import Copilot, CopilotSettings
from skillopt.agents.program import Cause
from skillopt.domain.agency.transcripts import Seen
from tests.unit.agents.endings import FAILED, How, ended, prefixes, sample

SESSION = ".copilot/session-state/a-session/events.jsonl"


class Expected(msgspec.Struct, frozen=True):
    """What a sample comes to."""

    text: str = "DONE n=42"
    cause: Cause | None = None
    status: int | None = None
    calls: tuple[tuple[str, int], ...] = (("bash", 1),)
    denied: int = 0
    opened: Seen = "no"


TABLE = {
    "output_json_anth.jsonl": Expected(),
    "output_json_cut.jsonl": Expected(text="", cause="unavailable", calls=()),
    "output_json_e401.jsonl": Expected(text="", cause="auth", status=401, calls=()),
    "output_json_e429.jsonl": Expected(text="", cause="rate_limited", status=429, calls=()),
    "output_json_noallow.jsonl": Expected(denied=1),
    "output_json_resp.jsonl": Expected(),
    "output_json_skill.jsonl": Expected(text="skill used", calls=(("skill", 1),), opened="yes"),
    "output_json_tool.jsonl": Expected(),
    "output_json_unreach.jsonl": Expected(text="", cause="unavailable", calls=()),
}


def left(home: Path, transcript: bytes) -> None:
    place = home / SESSION
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(transcript)


@pytest.mark.parametrize("name", TABLE)
def test_what_the_real_program_wrote_comes_to_this(tmp_path: Path, name: str) -> None:
    expected = TABLE[name]
    code = 0 if expected.cause is None else 1
    heard = Copilot().heard(ended(tmp_path, sample("copilot", name), How(exit_code=code)))
    problem = heard.problem
    cause, status = (None, None) if problem is None else (problem.cause, problem.status)
    assert Expected(heard.text, cause, status, heard.calls, len(heard.denied), heard.skill_opened) == expected
    assert heard.session
    assert heard.usage is None  # its output tells no tokens


@pytest.mark.parametrize(
    ("output", "transcript", "tokens", "requests"),
    [
        ("output_json_noallow.jsonl", "session_events_noallow.jsonl", (11687, 5843, 44), 2),
        ("output_json_skill.jsonl", "session_events_skill.jsonl", (11691, 5845, 16), 2),
    ],
)
def test_the_transcript_adds_the_tokens_and_counts_no_call_twice(
    tmp_path: Path, output: str, transcript: str, tokens: tuple[int, int, int], requests: int
) -> None:
    before = Copilot().heard(ended(tmp_path, sample("copilot", output)))
    left(tmp_path, sample("copilot", transcript))
    heard = Copilot().heard(ended(tmp_path, sample("copilot", output)))
    assert heard.usage is not None
    assert (heard.usage.input_tokens, heard.usage.cached_tokens, heard.usage.output_tokens) == tokens
    assert (heard.usage.calls, heard.requests) == (1, requests)
    assert heard.usage.nano_usd == tokens[0] * 1000 + tokens[2] * 10_000
    assert (heard.calls, heard.actions, heard.text) == (before.calls, before.actions, before.text)


def test_without_any_output_the_transcript_still_tells_what_was_done(tmp_path: Path) -> None:
    left(tmp_path, sample("copilot", "session_events_e429.jsonl"))
    heard = Copilot().heard(ended(tmp_path, how=FAILED))
    assert heard.problem is not None
    assert (heard.problem.cause, heard.problem.status) == ("rate_limited", 429)
    assert heard.session == "0c9118e6-4889-4534-abb8-efb37ff8da53"


@pytest.mark.parametrize("name", ["output_json_noallow.jsonl", "output_json_skill.jsonl", "output_json_e401.jsonl"])
def test_output_that_is_cut_anywhere_is_heard(tmp_path: Path, name: str) -> None:
    whole = sample("copilot", name)
    full = Copilot().heard(ended(tmp_path, whole))
    for cut in prefixes(whole):
        heard = Copilot().heard(ended(tmp_path, cut))
        assert heard.problem is not None or heard.text == full.text
        assert len(heard.actions) <= len(full.actions)


def test_a_transcript_that_is_cut_anywhere_is_heard(tmp_path: Path) -> None:
    whole = sample("copilot", "session_events_skill.jsonl")
    for cut in (*range(0, len(whole), 97), *(place for place, byte in enumerate(whole) if byte == ord("\n"))):
        left(tmp_path, whole[:cut])
        assert Copilot().heard(ended(tmp_path, sample("copilot", "output_json_skill.jsonl"))).text == "skill used"


def test_a_login_is_a_matter_of_its_home(tmp_path: Path) -> None:
    assert not Copilot().login(tmp_path)
    (tmp_path / ".copilot").mkdir()
    (tmp_path / ".copilot" / "config.json").touch()
    assert Copilot().login(tmp_path)


def test_its_settings_are_those_of_every_program() -> None:
    settings = msgspec.convert({"backend": "copilot", "model": "gpt-5"}, CopilotSettings)
    assert settings.model == "gpt-5"
