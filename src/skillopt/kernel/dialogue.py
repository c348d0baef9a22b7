"""Asks a model for a JSON reply under a contract: parse, repair once by asking again, or say why it is unusable.
Owns all parsing of model JSON; refuses to know what the contracts mean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

import json_repair
import msgspec

from skillopt.domain.chat import Message, without_halves
from skillopt.domain.rollouts import Failure
from skillopt.domain.texts import with_texts
from skillopt.kernel.run import Run
from skillopt.kernel.work import Ask, Asker, Outcome

Contract = TypeVar("Contract", bound=msgspec.Struct)
Messages = tuple[Message, ...]

_FENCE = re.compile(r"```[A-Za-z0-9_-]*[ \t]*\n(.*?)```", re.DOTALL)
_MARK = re.compile(r'"(?:[^"\\\n]|\\.)*"|[{}]')  # a JSON string, or a brace outside of one
_BRACKET = re.compile(r'"(?:[^"\\\n]|\\.)*"|[{}\[\]]')
_SHOWN_WHY = 300
_DEEPEST = 100  # no contract comes near; the mending library takes time and stack with the depth


class Unusable(msgspec.Struct, frozen=True, kw_only=True):
    """No reply that fulfils the contract, even after one repair; `kind` is a failure's name or `Unreadable`."""

    kind: str
    why: str


class UnreadableError(Exception):
    """A reply holds no object that fulfils the contract."""


class Conversation(msgspec.Struct, Generic[Contract], frozen=True, kw_only=True):
    """What is asked, by whom, and what a reply must look like."""

    asker: Asker
    phase: str
    contract: type[Contract]


async def converse(
    run: Run, conversation: Conversation[Contract], prompts: Sequence[Messages]
) -> tuple[Contract | Unusable, ...]:
    """Ask all prompts at once and return their parsed replies, in order; unreadable ones are sent back once."""
    asker, phase = conversation.asker, conversation.phase
    outcomes = await run.do(phase, asker.verb, [asker.ask(prompt) for prompt in prompts])
    parsed = [_read(run, outcome, conversation.contract) for outcome in outcomes]
    unread = [index for index, reply in enumerate(parsed) if isinstance(reply, Unusable) and reply.kind == "Unreadable"]
    if unread:
        repairs = [_repair(asker, prompts[index], outcomes[index], parsed[index]) for index in unread]
        second = await run.do(f"{phase}/repair", asker.verb, repairs)
        for index, outcome in zip(unread, second, strict=True):
            parsed[index] = _read(run, outcome, conversation.contract)
    return tuple(parsed)


def parse_reply(text: str, contract: type[Contract]) -> Contract:
    """Return the object in a model's reply: fenced, plain, chatty or cut; raises UnreadableError saying what is wrong.

    Of several objects that fulfil the contract the last one counts: models show an example first and decide last.
    """
    found: Contract | None = None
    problem = "it holds no JSON object"
    for source in _sources(text):
        for candidate in _objects(source):
            try:
                found = msgspec.json.decode(candidate, type=contract, strict=False)
            except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
                problem = str(error)
        if found is not None:
            return found
    return with_texts(_mended(text, contract, problem), without_halves)


def _sources(text: str) -> Iterator[str]:
    fenced = _FENCE.findall(text)
    yield from reversed(fenced)
    yield text


def _objects(text: str) -> Iterator[str]:
    """Yield every outermost {...} of a text, minding strings."""
    depth = start = 0
    for mark in _MARK.finditer(text):
        token = mark.group()
        if token == "{":
            start = mark.start() if depth == 0 else start
            depth += 1
        elif token == "}" and depth:
            depth -= 1
            if depth == 0:
                yield text[start : mark.end()]


def _mended(text: str, contract: type[Contract], problem: str) -> Contract:
    """Let a library mend small slips and a missing end, but only when it is clear which object is meant."""
    start = text.find("{")
    if start < 0 or _depth(text) > _DEEPEST:
        raise UnreadableError(problem)
    mended = json_repair.loads(text[start:])
    try:
        return msgspec.convert(mended, type=contract, strict=False)
    except msgspec.ValidationError as error:
        raise UnreadableError(f"{problem}; mended: {error}") from None


def _depth(text: str) -> int:
    """Return how deep the brackets of a text nest at most, strings left out as far as they can be told."""
    depth = deepest = 0
    for mark in _BRACKET.finditer(text):
        token = mark.group()
        if token in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif token in "}]":
            depth = max(0, depth - 1)
    return deepest


def _read(run: Run, outcome: Outcome, contract: type[Contract]) -> Contract | Unusable:
    if isinstance(outcome, Failure):
        return Unusable(kind=outcome.kind, why=outcome.message)
    try:
        # once more, because JSON can spell a secret in ways that hid it in the reply
        return with_texts(parse_reply(outcome.text, contract), run.scrub)
    except UnreadableError as error:
        return Unusable(kind="Unreadable", why=run.scrub(str(error))[:_SHOWN_WHY])


def _repair(asker: Asker, prompt: Messages, outcome: Outcome, problem: object) -> Ask:
    said = outcome.message if isinstance(outcome, Failure) else outcome.text
    why = problem.why if isinstance(problem, Unusable) else ""
    again = (
        f"This reply could not be used: {why}. Send the whole answer once more, as one JSON object in the form asked "
        "for, with nothing before or after it."
    )
    return asker.ask((*prompt, Message("assistant", said), Message("user", again)))
