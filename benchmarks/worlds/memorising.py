"""Bar 15: the memorising world accepts nothing, and no optimizer prompt of any run holds anything of val or test.
The prompts are all that the server received of the optimizer, over HTTP, in both worlds and under both rules."""

from __future__ import annotations

import msgspec

from benchmarks.claims import Claim, Part, tell
from benchmarks.workspace import folder, prepared, write_world
from benchmarks.worlds.leaks import leaks
from benchmarks.worlds.training import trained
from skillopt.testing.server.embedded import serve_in_thread
from skillopt.testing.server.ledger import LoggedRequest
from skillopt.testing.server.service import Settings
from skillopt.testing.worlds import WorldTasks, hidden_rules_world, memorising_world

_SIZES = (40, 20, 20)
_MORE = {"train": {"epochs": 3, "batch_size": 10}}
_SKILL = "# Settling cases\n\nPut the answer between answer tags.\n"
_SEEDS = (1, 2, 3)
_RULES = ("paired", "strict")
_SLOTS = 24
_REMEMBERED = 100_000
_WORLDS = {"memorising": memorising_world, "hidden-rules": hidden_rules_world}


class _Row(msgspec.Struct, frozen=True, kw_only=True):
    """One run: what was accepted, what it scored, and what its optimizer was sent."""

    rule: str
    seed: int
    accepts: int
    steps: int
    test: float | None
    prompts: int
    leaks: list[str]


class _Body(msgspec.Struct, frozen=True):
    """The part of a request that a model reads."""

    messages: list[dict[str, str]]


def measure() -> Claim:
    """Train in both worlds, under each rule, with a few seeds."""
    rows = {
        brain: [_run(brain, world(seed, *_SIZES), seed, rule) for rule in _RULES for seed in _SEEDS]
        for brain, world in _WORLDS.items()
    }
    found = sum(len(row.leaks) for each in rows.values() for row in each)
    return Claim(
        name="memorising",
        bar=15,
        unit="accepted edits; leaks",
        parts=(
            Part("accepts", float(sum(row.accepts for row in rows["memorising"])), "<=", 0.0),
            Part("leaks", float(found), "<=", 0.0),
        ),
        detail=rows,
    )


def _run(brain: str, world: WorldTasks, seed: int, rule: str) -> _Row:
    with folder() as path, serve_in_thread(Settings(log_size=_REMEMBERED)) as server:
        config = write_world(path, server.url(brain), world, skill=_SKILL, more=_MORE)
        sets = (f"train.seed={seed}", f"gate.rule={rule}")
        run = trained(prepared(config, workspace="run", concurrency=_SLOTS, sets=sets))
        prompts = [_text(request) for request in server.log(brain) if request.role == "optimizer"]
    best = run.summary.scores.best.test
    return _Row(
        rule=rule,
        seed=seed,
        accepts=run.summary.accepts,
        steps=run.summary.steps,
        test=None if best is None else best.hard,
        prompts=len(prompts),
        leaks=list(leaks(prompts, (*world.val, *world.test)))[:9],
    )


def _text(request: LoggedRequest) -> str:
    return "\n".join(message["content"] for message in msgspec.json.decode(request.body, type=_Body).messages)


if __name__ == "__main__":
    tell(measure())
