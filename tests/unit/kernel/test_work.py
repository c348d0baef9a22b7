from __future__ import annotations

import itertools

import pytest

from skillopt.domain.chat import Image, MediaType, Message, ToolCall
from skillopt.domain.usage import Price
from skillopt.kernel.work import STAGES, Asker, Staff
from skillopt.testing.scripted import ScriptedChat

HELLO = (Message("user", "hello"),)


def asker(
    *,
    brain: str = "echo",
    model: str = "m",
    verb: str = "rollout",
    role: str = "target",
    version: str = "1",
    max_tokens: int = 10,
    temperature: float | None = None,
    timeout: float = 60.0,
    price: Price | None = None,
) -> Asker:
    return Asker(
        verb=verb,
        role=role,
        chat=ScriptedChat(brain, model=model, timeout=timeout, price=price),
        max_tokens=max_tokens,
        temperature=temperature,
        version=version,
    )


def test_a_key_depends_on_everything_that_determines_the_answer() -> None:
    keys = [
        asker().ask(HELLO).key,
        asker(brain="coin").ask(HELLO).key,
        asker(model="n").ask(HELLO).key,
        asker(verb="reflect").ask(HELLO).key,
        asker(version="2").ask(HELLO).key,
        asker(max_tokens=11).ask(HELLO).key,
        asker(temperature=0.0).ask(HELLO).key,
        asker(temperature=1.0).ask(HELLO).key,
        asker().ask(HELLO, trial=1).key,
        asker().ask((Message("system", "hello"),)).key,
        asker().ask((Message("user", "hello "),)).key,
        asker().ask((Message("user", "hel"), Message("user", "lo"))).key,
        asker().ask((*HELLO, Message("assistant", ""))).key,
        asker(model="", version="m1").ask(HELLO).key,
    ]
    for one, other in itertools.combinations(keys, 2):
        assert one != other


def test_a_key_depends_on_nothing_else() -> None:
    plain = asker().ask(HELLO)
    other = asker(role="judge", timeout=1.0, price=Price(input=1, output=1)).ask((Message("user", "hello"),))
    assert plain.key == other.key
    assert len(plain.key) == 16


def test_an_asker_can_be_used_again() -> None:
    one = asker()
    assert one.ask(HELLO).key == one.ask(HELLO).key != one.ask(HELLO, trial=2).key


def test_slots_are_shared_by_account_and_not_by_role() -> None:
    assert asker(role="judge").ask(HELLO).account == asker(role="target", model="n").ask(HELLO).account
    assert asker(brain="coin").ask(HELLO).account != asker().ask(HELLO).account


def test_a_staff_has_somebody_at_every_stage() -> None:
    everyone = {stage: asker(verb=stage) for stage in STAGES}
    assert Staff(everyone).at("merge") is everyone["merge"]
    del everyone["rank"]
    with pytest.raises(ValueError, match="rank"):
        Staff(everyone)


def test_keys_of_text_are_those_of_the_first_version() -> None:
    talk = (Message("system", "Be brief."), Message("user", "Hi?"))
    assert asker().ask(talk).key.hex() == "eca35224821e265845c72f1a33859308"
    assert asker().ask(talk, trial=1).key.hex() == "c67986391925362b6e223b976378d505"
    assert asker(temperature=0.5).ask(talk).key.hex() == "3b61ca77a3575920e47b6f0f5e143b92"


def test_a_key_depends_on_what_an_image_shows_and_not_on_where_it_comes_from() -> None:
    def never() -> bytes:
        raise AssertionError("a key opens no file")

    def key(digest: str, kind: MediaType = "image/png") -> bytes:
        image = Image(media_type=kind, digest=digest, fetch=never)
        return asker().ask((Message("user", "hello", (image,)),)).key

    assert key("a") == key("a")
    assert len({key("a"), key("b"), key("a", "image/gif"), asker().ask(HELLO).key}) == 4


def test_a_key_depends_on_calls_and_results() -> None:
    call = ToolCall(id="c", name="f", arguments="{}")
    turns = [
        (Message("assistant", "hello", calls=calls),)
        for calls in [(), (call,), (call, call), (ToolCall(id="c", name="f", arguments="[]"),)]
    ]
    turns += [(Message("tool", "hello", call_id=name),) for name in "cd"]
    assert len({asker().ask(each).key for each in turns}) == len(turns)
