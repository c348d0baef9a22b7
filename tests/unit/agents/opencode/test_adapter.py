from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from skillopt.agents.opencode.adapter import OpenCode, OpenCodeSettings
from skillopt.agents.program import Cause
from skillopt.domain.agency.transcripts import Seen
from tests.unit.agents.endings import STOPPED, How, ended, lines, prefixes, sample


class Expected(msgspec.Struct, frozen=True):
    """What a sample comes to; tokens are those read, those of them from the cache, and those written."""

    text: str = ""
    cause: Cause | None = None
    calls: tuple[tuple[str, int], ...] = ()
    opened: Seen = "no"
    tokens: tuple[int, int, int] | None = None
    requests: int = 0


TABLE = {
    "run_json_e429.jsonl": Expected(cause="rate_limited"),
    "run_json_skill.jsonl": Expected("skill used", None, (("skill", 1),), "yes", (5485, 2742, 16), 2),
    "run_json_text.jsonl": Expected("HELLO from scripted model", tokens=(2529, 1264, 9), requests=1),
    "run_json_tool.jsonl": Expected("DONE n=42", None, (("bash", 1),), "no", (5154, 2576, 36), 2),
}


@pytest.mark.parametrize("name", TABLE)
def test_what_the_real_program_wrote_comes_to_this(tmp_path: Path, name: str) -> None:
    expected = TABLE[name]
    code = 0 if expected.cause is None else 1
    heard = OpenCode().heard(ended(tmp_path, sample("opencode", name), How(exit_code=code)))
    cause = None if heard.problem is None else heard.problem.cause
    used = heard.usage
    tokens = None if used is None else (used.input_tokens, used.cached_tokens, used.output_tokens)
    assert Expected(heard.text, cause, heard.calls, heard.skill_opened, tokens, heard.requests) == expected
    assert heard.session.startswith("ses_")


@pytest.mark.parametrize("name", TABLE)
def test_output_that_is_cut_anywhere_is_heard(tmp_path: Path, name: str) -> None:
    whole = sample("opencode", name)
    full = OpenCode().heard(ended(tmp_path, whole))
    for cut in prefixes(whole):
        heard = OpenCode().heard(ended(tmp_path, cut))
        assert heard.problem is not None or heard.text == full.text
        assert full.actions[: len(heard.actions)] == heard.actions


def test_while_it_tries_again_only_the_log_says_why(tmp_path: Path) -> None:
    log = tmp_path / ".local/share/opencode/log/opencode.log"
    log.parent.mkdir(parents=True)
    log.write_text(
        'level=ERROR message="Failed to fetch models.dev" cause="no"\n'
        'level=ERROR message="stream error" providerID=x error.error="AI_APICallError: It \\"failed\\" first."\n'
        'level=ERROR message="stream error" providerID=x error.error="AI_APICallError: Too many requests."\n'
    )
    problem = OpenCode().heard(ended(tmp_path, how=STOPPED)).problem
    assert problem is not None
    assert (problem.cause, problem.message) == ("rate_limited", "AI_APICallError: Too many requests.")


def test_a_login_is_a_matter_of_its_home(tmp_path: Path) -> None:
    assert not OpenCode().login(tmp_path)
    place = tmp_path / ".local" / "share" / "opencode" / "auth.json"
    place.parent.mkdir(parents=True)
    place.touch()
    assert OpenCode().login(tmp_path)


def test_its_settings_are_those_of_every_program() -> None:
    assert msgspec.convert({"backend": "opencode", "model": "m"}, OpenCodeSettings).model == "m"


def test_an_event_of_a_later_version_is_passed_over(tmp_path: Path) -> None:
    odd = lines(
        {"type": "dream", "part": {"of": "sheep"}},
        {"type": "tool_use", "part": "what"},
        {"type": "text", "part": {"text": "Here.", "messageID": "m", "new": 1}},
        {"type": "step_finish", "part": {"reason": "stop", "tokens": {"input": 1, "output": 2, "reasoning": 3}}},
    )
    heard = OpenCode().heard(ended(tmp_path, b'nonsense\n{"type": 3}\n' + odd))
    assert (heard.text, heard.problem) == ("Here.", None)
    assert heard.usage is not None
    assert (heard.usage.input_tokens, heard.usage.output_tokens) == (1, 5)
