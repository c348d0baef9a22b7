from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import pytest

from skillopt.testing.brains import BRAINS
from skillopt.testing.scenario import KEYS
from skillopt.testing.server import ThreadedServer
from skillopt.testing.tooluse.script import ScriptTurn, script
from skillopt.testing.worlds import RULES, rules_world

Ask = Callable[..., Any]


class HasJson(Protocol):
    def json(self) -> dict[str, Any]: ...


def body(text: str = "hello", model: str = "m") -> dict[str, object]:
    return {"model": model, "messages": [{"role": "user", "content": text}]}


def text_of(response: HasJson) -> str:
    text = response.json()["choices"][0]["message"]["content"]
    assert isinstance(text, str)
    return text


def test_a_world_can_be_played_over_http(ask: Ask) -> None:
    task = next(task for task in rules_world(1, 30, 0, 0).train if "[needs:" in task.input)
    skill = {"role": "system", "content": "\n".join(rule.sentence for rule in RULES.rules)}
    user = {"role": "user", "content": task.input}
    taught = {"model": "gpt", "messages": [skill, user]}
    assert text_of(ask("/s/rules/v1/chat/completions", taught)) == f"<answer>{task.reference}</answer>"
    assert "[violated: " in text_of(ask("/s/rules/v1/chat/completions", {"model": "gpt", "messages": [user]}))


def test_without_a_scenario_the_default_is_played(ask: Ask) -> None:
    assert text_of(ask("/v1/chat/completions", body())) == "There is no case here to settle."


def test_a_scenario_may_be_escaped_and_the_path_may_have_more_in_front(ask: Ask) -> None:
    path = "/s/echo%2Ckinds%3Dauth/openai/deployments/x/chat/completions?api-version=1"
    assert ask(path, body()).status == 401


@pytest.mark.parametrize(
    ("scenario", "names"), [("echo,rats=1", KEYS), ("ecco", BRAINS), ("echo,kinds=cat", ("cut",)), ("echo,rate=9", ())]
)
def test_a_scenario_that_cannot_be_read_is_a_400_that_lists_what_can(
    ask: Ask, scenario: str, names: tuple[str, ...]
) -> None:
    for route in ("chat/completions", "responses", "messages"):
        response = ask(f"/s/{scenario}/v1/{route}", body())
        assert response.status == 400
        assert all(name in response.json()["error"]["message"] for name in names)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"model": "m"}', b'{"model": 1, "messages": []}', b"\xff"])
def test_a_body_that_does_not_fit_is_a_400(ask: Ask, data: bytes) -> None:
    for route in ("chat/completions", "responses", "messages"):
        assert ask(f"/s/echo/v1/{route}", data).status == 400


def test_an_unknown_path_is_a_404_that_lists_the_known_ones(ask: Ask) -> None:
    response = ask("/v1/embeddings", body())
    assert response.status == 404
    assert "chat/completions" in response.json()["error"]["message"]
    assert ask("/v1/chat/completions").status == 404


def test_models_are_listed(ask: Ask) -> None:
    ids = [model["id"] for model in ask("/s/rules/v1/models").json()["data"]]
    assert ids == ["scripted-target", "scripted-optimizer", "scripted-judge"]


def test_the_same_body_sent_again_is_the_next_attempt(ask: Ask) -> None:
    path = "/s/echo,kinds=internal,repeats=2,seed=71/v1/chat/completions"
    assert [ask(path, body("one")).status for _ in range(3)] == [500, 500, 200]
    assert ask(path, body("two")).status == 500


def test_calls_can_fail_by_number(ask: Ask) -> None:
    path = "/s/echo,at=2:auth,seed=72/v1/chat/completions"
    assert [ask(path, body(str(number))).status for number in range(3)] == [200, 401, 200]


def test_who_fails_depends_on_the_body_and_not_on_the_order(ask: Ask) -> None:
    texts = [f"text {number}" for number in range(30)]
    first = {
        text: ask("/s/echo,rate=0.5,kinds=internal,seed=3/v1/chat/completions", body(text)).status for text in texts
    }
    again = {
        text: ask("/s/echo,rate=0.5,kinds=internal,seed=3,latency=0/v1/chat/completions", body(text)).status
        for text in reversed(texts)
    }
    assert first == again
    assert set(first.values()) == {200, 500}


def test_stats_count_by_scenario_and_role(ask: Ask, server: ThreadedServer) -> None:
    name = "echo,kinds=rate_limit,repeats=1,seed=73"
    path = f"/s/{name}/v1/chat/completions"
    for _ in range(2):
        ask(path, body("hello there"))
    ask(path, body("hello there", model="gpt-opt"))
    stats = server.stats(name)
    assert set(stats) == {"optimizer", "target"}
    target = stats["target"]
    assert (target.requests, target.served, target.faults) == (2, 1, {"rate_limit": 1})
    assert (target.input_tokens, target.output_tokens, target.in_flight, target.max_in_flight) == (3, 3, 0, 1)
    assert (stats["optimizer"].requests, stats["optimizer"].served) == (1, 0)
    over_http = ask(f"/s/{name}/stats").json()["scenarios"][name]
    assert over_http["target"]["faults"] == {"rate_limit": 1}
    assert name in ask("/stats").json()["scenarios"]
    assert server.stats("never played") == {}


def test_a_client_that_leaves_is_dropped_and_not_served(ask: Ask, server: ThreadedServer) -> None:
    name = "echo,latency=60,seed=74"
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=0.1)
    connection.request("POST", f"/s/{name}/v1/chat/completions", body=json.dumps(body()))
    with pytest.raises(TimeoutError):
        connection.getresponse()
    assert server.stats(name)["target"].in_flight == 1
    connection.close()
    for _ in range(10_000):
        if server.stats(name)["target"].in_flight == 0:
            break
    target = server.stats(name)["target"]
    assert (target.requests, target.served, target.dropped) == (1, 0, 1)


def test_the_log_shows_what_was_sent_without_the_key(ask: Ask, server: ThreadedServer) -> None:
    name = "echo,kinds=internal,repeats=1,seed=75"
    for _ in range(2):
        ask(f"/s/{name}/v1/chat/completions", body("look"), {"Authorization": "Bearer sesame", "X-Mine": "yes"})
    first, second = server.log(name)
    assert (first.attempt, first.fault, second.attempt, second.fault) == (1, "internal", 2, None)
    assert (first.model, first.role, first.path) == ("m", "target", f"/s/{name}/v1/chat/completions")
    assert json.loads(first.body) == body("look")
    assert first.headers["x-mine"] == "yes"
    assert "sesame" not in first.headers["authorization"]
    lines = ask(f"/s/{name}/log").body.decode().splitlines()
    assert [json.loads(line)["attempt"] for line in lines] == [1, 2]


def test_replies_wait_until_enough_are_together(ask: Ask, server: ThreadedServer) -> None:
    name = "echo,together=4,seed=76"
    with ThreadPoolExecutor(4) as pool:
        texts = list(
            pool.map(lambda text: text_of(ask(f"/s/{name}/v1/chat/completions", body(text))), ["a", "b", "c", "d"])
        )
    assert texts == ["a", "b", "c", "d"]
    assert server.stats(name)["target"].max_in_flight == 4


def test_a_script_in_the_url_is_played_by_the_results_in_the_request(ask: Ask, server: ThreadedServer) -> None:
    name = script(ScriptTurn(sh='echo "a, b" > c/d'), ScriptTurn(text="Done, all of it."))
    path = server.url(name).removeprefix(server.root)
    tool = {"name": "Bash", "input_schema": {"properties": {"command": {"type": "string"}}}}
    first = {"model": "m", "messages": [{"role": "user", "content": "go"}], "tools": [tool]}
    block = ask(f"{path}/messages", first).json()["content"][0]
    assert (block["name"], block["input"]) == ("Bash", {"command": 'echo "a, b" > c/d'})
    taken = [{"type": "tool_result", "tool_use_id": "1", "content": "a, b"}]
    second = {**first, "messages": [*first["messages"], {"role": "user", "content": taken}]}
    assert ask(f"{path}/messages", second).json()["content"] == [{"type": "text", "text": "Done, all of it."}]
    assert ask(f"{server.url(name + ',kinds=auth').removeprefix(server.root)}/messages", first).status == 401


def test_a_script_that_cannot_be_read_is_a_400_that_shows_one(ask: Ask) -> None:
    response = ask("/s/script:%5B%5D/v1/chat/completions", body())
    assert response.status == 400
    assert '{"text": "Done."}' in response.json()["error"]["message"]
