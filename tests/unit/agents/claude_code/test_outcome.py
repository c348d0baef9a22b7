from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from skillopt.agents.claude_code.adapter import ClaudeCode
from skillopt.agents.program import Heard
from skillopt.domain.usage import Price, Usage
from tests.unit.agents.claude_code.stand import JOB, called, came, ended, line, result, said

SCHEMA = msgspec.structs.replace(JOB, schema="{}")


def heard(home: Path, *events: bytes, exit_code: int = 0, stderr: bytes = b"") -> Heard:
    return ClaudeCode().heard(ended(home, b"".join(events), exit_code=exit_code, stderr=stderr))


def cause(found: Heard) -> str | None:
    return None if found.problem is None else found.problem.cause


def test_an_answer_needs_a_good_exit_a_good_event_and_words(tmp_path: Path) -> None:
    assert cause(heard(tmp_path, result())) is None
    assert cause(heard(tmp_path, result(), exit_code=1)) == "crashed"
    assert cause(heard(tmp_path, result(is_error=True))) == "crashed"
    assert cause(heard(tmp_path, result(result=""))) == cause(heard(tmp_path, result(result=None))) == "empty"
    assert cause(heard(tmp_path, result(terminal_reason="max_turns"))) == "crashed"


def test_an_answer_to_a_command_of_the_program_is_none(tmp_path: Path) -> None:
    found = heard(tmp_path, result(num_turns=0, terminal_reason=None, result="/compact isn't available."))
    assert cause(found) == "crashed"


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({"api_error_status": 401}, "auth"),
        ({"api_error_status": 403, "result": "no usage of the context window"}, "auth"),
        ({"api_error_status": 402}, "quota"),
        ({"api_error_status": 429}, "rate_limited"),
        ({"api_error_status": 429, "result": "Quota of requests per minute exceeded"}, "rate_limited"),
        ({"api_error_status": 429, "api_error_type": "billing_error"}, "quota"),
        ({"api_error_status": 429, "api_error": "usage_limit_reached"}, "quota"),
        ({"api_error_status": 400, "result": "Credit balance is too low"}, "quota"),
        ({"api_error_status": 400, "terminal_reason": "prompt_too_long"}, "context"),
        ({"api_error_status": 413}, "context"),
        ({"api_error_status": 400}, "refused"),
        ({"api_error_status": 404}, "refused"),
        ({"api_error_status": 500, "result": "billing is down"}, "unavailable"),
        ({"api_error_status": 529}, "unavailable"),
        ({"api_error_status": 302}, "unavailable"),
        ({"api_error": "connection_failed"}, "unavailable"),
        ({"api_error": "max_output_tokens"}, "truncated"),
        ({"stop_reason": "refusal"}, "filtered"),
        ({"result": "Not logged in · Please run /login"}, "login"),
    ],
)
def test_an_error_says_who_must_act(tmp_path: Path, fields: dict[str, object], wanted: str) -> None:
    error: dict[str, object] = {"is_error": True, "terminal_reason": "api_error", "result": "It failed."}
    found = heard(tmp_path, result(**(error | fields)), exit_code=1)
    assert cause(found) == wanted
    assert found.text == ""
    assert found.problem is not None
    assert found.problem.status == fields.get("api_error_status")


def test_a_program_that_tells_nothing_has_crashed_with_its_last_words(tmp_path: Path) -> None:
    found = heard(tmp_path, exit_code=1, stderr=b"error: unknown option\n")
    assert found.problem is not None
    assert (found.problem.cause, found.usage) == ("crashed", None)
    assert "exit code 1 and told no result. error: unknown option" in found.problem.message


def test_an_error_before_the_end_was_cut_off_is_kept(tmp_path: Path) -> None:
    event = line(
        type="assistant",
        uuid="u",
        api_error_status=403,
        message={"model": "<synthetic>", "content": [{"type": "text", "text": "Forbidden."}]},
    )
    found = heard(tmp_path, event, exit_code=-9)
    assert found.problem is not None
    assert (found.problem.cause, found.problem.status, found.problem.message) == ("auth", 403, "Forbidden.")


def test_a_key_is_not_repeated(tmp_path: Path) -> None:
    found = heard(tmp_path, result(is_error=True, api_error_status=401, result="a-key is wrong"), exit_code=1)
    assert found.problem is not None
    assert found.problem.message == "[…] is wrong"


def test_the_newest_accepted_object_is_the_answer_even_of_a_run_that_ended_in_an_error(tmp_path: Path) -> None:
    events = (
        said(called("StructuredOutput", "t1", a=1)),
        came("t1"),
        said(called("StructuredOutput", "t2", a=2), uuid="u2"),
        came("t2"),
        said(called("StructuredOutput", "t3", a="no"), uuid="u3"),
        came("t3", "does not fit", error=True),
    )
    error = result(is_error=True, result=None, errors=["too many tries"])
    found = ClaudeCode().heard(ended(tmp_path, b"".join((*events, error)), job=SCHEMA, exit_code=1))
    assert (found.text, cause(found)) == ('{"a":2}', "crashed")
    told = ClaudeCode().heard(ended(tmp_path, b"".join((*events, result(structured_output={"a": 3}))), job=SCHEMA))
    assert (told.text, cause(told)) == ('{"a":3}', None)


def test_an_answer_that_ignores_the_schema_stands_as_it_is(tmp_path: Path) -> None:
    assert ClaudeCode().heard(ended(tmp_path, result(structured_output=None), job=SCHEMA)).text == "Done."


def test_tokens_are_charged_at_our_prices(tmp_path: Path) -> None:
    used = {
        "inputTokens": 100,
        "outputTokens": 10,
        "cacheReadInputTokens": 1000,
        "cacheCreationInputTokens": 50,
        "costUSD": 99,
    }
    price = Price(input=2, output=10, cached=0.5, cache_write=4)
    job = msgspec.structs.replace(JOB, model=msgspec.structs.replace(JOB.model, price=price))
    found = ClaudeCode().heard(ended(tmp_path, result(modelUsage={"a": used, "b": used}), job=job)).usage
    dollars = 2 * (100 * 2 + 10 * 10 + 1000 * 0.5 + 50 * 4) / 1e6
    assert found == Usage(
        calls=1, input_tokens=2300, cached_tokens=2000, output_tokens=20, nano_usd=round(dollars * 1e9)
    )


def test_tokens_of_a_run_that_was_cut_off_come_from_its_transcript(tmp_path: Path) -> None:
    message = {"id": "m1", "model": "m", "usage": {"input_tokens": 5, "output_tokens": 7}, "content": []}
    kept = line(type="assistant", uuid="u1", message=message) + line(type="assistant", uuid="u2", message=message)
    found = ClaudeCode().heard(ended(tmp_path, transcript=kept, exit_code=-9))
    assert found.usage is not None
    assert (found.usage.input_tokens, found.usage.output_tokens) == (5, 7)


def test_requests_are_those_that_the_transcript_notes_or_the_output_shows(tmp_path: Path) -> None:
    shown = said(id="a") + said(id="a", uuid="u2") + said(id="b", uuid="u3") + line(type="system", subtype="api_retry")
    assert ClaudeCode().heard(ended(tmp_path, shown)).requests == 3
    noted = line(type="api-request") * 4
    assert ClaudeCode().heard(ended(tmp_path, shown, transcript=noted)).requests == 4
