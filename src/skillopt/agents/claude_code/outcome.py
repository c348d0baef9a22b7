"""What a run of Claude Code came to: its answer or a problem, and the tokens it used.
Owns which of the program's words mean what; never goes by `subtype`, which says success of a refused key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from skillopt.agents.claude_code.account import Account, Call
from skillopt.agents.claude_code.events import Line, ModelTokens, Tokens
from skillopt.agents.program import Cause, Problem
from skillopt.domain.texts import clipped
from skillopt.domain.usage import Price, Usage
from skillopt.kernel.process import Finished

_LONGEST_WORDS = 600
_COMPLETED, _API_ERROR = "completed", "api_error"
_BY_STATUS: tuple[tuple[range, Cause], ...] = (
    (range(401, 402), "auth"),
    (range(402, 403), "quota"),
    (range(403, 404), "auth"),
    (range(413, 414), "context"),
    (range(429, 430), "rate_limited"),
    (range(408, 409), "unavailable"),
    (range(400, 500), "refused"),
    (range(500, 600), "unavailable"),
)
_NO_CREDIT = re.compile(
    r"billing|insufficient_quota|insufficient (?:balance|credits)|credit balance|usage[_ ]limit[_ ]reached",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(
    r"prompt_too_long|prompt is too long|input is too long|context (?:window|length|size)|context_length", re.IGNORECASE
)
_LOGIN = re.compile(r"not logged in|please run /login|oauth token", re.IGNORECASE)
_AT_ITS_LIMIT = re.compile(r"max_output_tokens", re.IGNORECASE)
_DECLINED = re.compile(r"refusal", re.IGNORECASE)


def answer(end: Line | None, told: Account, *, schema: bool) -> str:
    """Return the answer; by a schema it is the newest object that was accepted, whatever was said at the end."""
    if schema:
        if end is not None and _is_there(end.structured_output):
            return bytes(end.structured_output).decode(errors="replace")
        accepted = [call for call in told.answers if _accepted(call)]
        if accepted:
            return accepted[-1].raw.decode(errors="replace")
    return "" if end is None or end.is_error or end.result is None else end.result


def problem(end: Line | None, text: str, finished: Finished) -> Problem | None:
    """Return why there is no answer, or None: exit code, the last event and the answer all have to be good."""
    if end is None:
        return _without_end(finished)
    if end.is_error:
        return _told(end, finished)
    if finished.exit_code != 0:
        return Problem(cause="crashed", message=f"It ended with exit code {finished.exit_code} after its answer.")
    if end.num_turns == 0 or end.terminal_reason not in {None, _COMPLETED}:
        why = end.terminal_reason or "it took the prompt for a command of its own"
        return Problem(cause="crashed", message=f"It did not ask its model to the end: {why}. {_words(end, finished)}")
    return None if text.strip() else Problem(cause="empty", message="It ended without an answer.")


def is_recovered(end: Line | None, text: str) -> bool:
    """Whether an answer by a schema was accepted, and only what came after it went wrong."""
    return end is not None and end.is_error is True and bool(text.strip())


def ending(stdout: Sequence[Line], diary: Sequence[Line]) -> Line | None:
    """Return the event that ends a run; of one that was cut off before it, an error that it told last, if any."""
    end = next((line for line in reversed(stdout) if line.type == "result"), None)
    last = next((line for line in reversed((*diary, *stdout)) if line.message is not None), None)
    if end is not None or last is None or last.message is None or not last.is_synthetic:
        return end
    return msgspec.structs.replace(
        last,
        is_error=True,
        result="\n".join(block.text or "" for block in last.message.blocks),
        terminal_reason=_API_ERROR,
        api_error_status=last.noted_status if last.api_error_status is None else last.api_error_status,
        api_error_type=last.api_error_type or last.noted_type,
    )


def usage(end: Line | None, diary: Sequence[Line], price: Price | None) -> Usage | None:
    """Return the tokens of the whole run at our prices; the program's own dollars go by a list that we do not know."""
    total = _total(end, diary)
    if total is None:
        return None
    read = total.input_tokens + total.cache_read_input_tokens + total.cache_creation_input_tokens
    nano = 0
    if price is not None:
        nano = price.cost(
            input_tokens=read,
            cached_tokens=total.cache_read_input_tokens,
            output_tokens=total.output_tokens,
            cache_written_tokens=total.cache_creation_input_tokens,
        )
    return Usage(
        calls=1,
        input_tokens=read,
        cached_tokens=total.cache_read_input_tokens,
        output_tokens=total.output_tokens,
        nano_usd=nano,
    )


def requests(stdout: Iterable[Line], diary: Iterable[Line]) -> int:
    """Return how often the model was asked: the transcript notes each request, the output each message once or more."""
    noted = sum(line.type == "api-request" for line in diary)
    told = list(stdout)
    answered = {line.message.id for line in told if line.type == "assistant" and line.message and not line.is_synthetic}
    return max(noted, len(answered) + sum(line.subtype == "api_retry" for line in told))


def _accepted(call: Call) -> bool:
    return not call.failed


def _is_there(raw: msgspec.Raw) -> bool:
    return bytes(raw) not in {b"", b"null"}


def _without_end(finished: Finished) -> Problem:
    words = clipped(finished.stderr.decode(errors="replace"), _LONGEST_WORDS)
    return Problem(
        cause="login" if _LOGIN.search(words) else "crashed",
        message=f"It ended with exit code {finished.exit_code} and told no result. {words}".rstrip(),
    )


def _told(end: Line, finished: Finished) -> Problem:
    words = _words(end, finished)
    return Problem(cause=_cause(end, words), message=words, status=end.api_error_status)


def _cause(end: Line, words: str) -> Cause:
    signs = " ".join((words, end.terminal_reason or "", end.api_error or "", end.api_error_type or ""))
    if _is_ours_to_read(end.api_error_status):
        if _NO_CREDIT.search(signs):
            return "quota"
        if _TOO_LONG.search(signs):
            return "context"
    if end.api_error_status is not None:
        return next((cause for statuses, cause in _BY_STATUS if end.api_error_status in statuses), "unavailable")
    if _LOGIN.search(signs):
        return "login"
    if _AT_ITS_LIMIT.search(end.api_error or ""):
        return "truncated"
    if end.stop_reason == "refusal" or _DECLINED.search(end.api_error or ""):
        return "filtered"
    return "unavailable" if end.terminal_reason == _API_ERROR else "crashed"


def _is_ours_to_read(status: int | None) -> bool:
    """Whether the words may say more than the status: not of a key that was refused, nor of a broken server."""
    return status is None or (status < 500 and status not in {401, 403})


def _words(end: Line, finished: Finished) -> str:
    told = end.result or "; ".join(end.errors or ()) or finished.stderr.decode(errors="replace")
    return clipped(told, _LONGEST_WORDS) or "It told no reason."


def _total(end: Line | None, diary: Sequence[Line]) -> ModelTokens | None:
    """Return the total that the program tells; where it was cut off, the sum of the messages in its transcript."""
    for line in (end, *(line for line in reversed(diary) if line.type == "cost-state")):
        if line is not None and line.model_usage:
            return _sum(line.model_usage.values())
    if end is not None and end.usage is not None:
        return _as_total(end.usage)
    messages = {line.message.id: line.message for line in diary if line.message is not None and line.message.usage}
    messages.pop(None, None)
    return _sum(_as_total(each.usage) for each in messages.values() if each.usage) if messages else None


def _as_total(told: Tokens) -> ModelTokens:
    return ModelTokens(
        input_tokens=_count(told.input_tokens),
        output_tokens=_count(told.output_tokens),
        cache_read_input_tokens=_count(told.cache_read_input_tokens),
        cache_creation_input_tokens=_count(told.cache_creation_input_tokens),
    )


def _count(told: int | None) -> int:
    """Return a count; one that a message leaves out is of something it had none of."""
    return 0 if told is None else told


def _sum(parts: Iterable[ModelTokens]) -> ModelTokens:
    each = list(parts)
    return ModelTokens(
        input_tokens=sum(part.input_tokens for part in each),
        output_tokens=sum(part.output_tokens for part in each),
        cache_read_input_tokens=sum(part.cache_read_input_tokens for part in each),
        cache_creation_input_tokens=sum(part.cache_creation_input_tokens for part in each),
    )
