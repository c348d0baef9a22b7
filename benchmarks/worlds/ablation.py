"""What each part of a training is good for: the same runs with one part left out at a time, in two worlds.
`python -m benchmarks.worlds.ablation --table` prints the rows for people."""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence

import msgspec

from benchmarks.claims import Claim, Part, tell
from benchmarks.workspace import folder, prepared, write_world
from benchmarks.worlds.training import trained
from skillopt.domain.errors import UsageError
from skillopt.testing.server.embedded import serve_in_thread
from skillopt.testing.worlds import WorldTasks, hidden_rules_world, rules_world

_SIZES = (80, 40, 40)
_MORE = {
    "train": {"epochs": 3, "batch_size": 20},
    "optimizer": {"edit_budget": 2, "min_edit_budget": 1},
    "stop": {"when": "never"},
}
_SKILL = "# House style\n\nAnswer in the answer tag.\n"
_SEEDS = (1, 2, 3)
_SLOTS = 24
_WORLDS = {"hidden-rules": hidden_rules_world, "rules": rules_world}


class _Arm(msgspec.Struct, frozen=True):
    """One way to train, by the settings in which it differs."""

    name: str
    sets: tuple[str, ...] = ()


_ARMS = (
    _Arm("default"),
    _Arm("no edit budget", ("optimizer.budget_control=none",)),
    _Arm("strict gate", ("gate.rule=strict",)),
    _Arm("no gate", ("gate.rule=force",)),
    _Arm("failures only", ("reflect.failures_only=true",)),
    _Arm("no ledger", ("reflect.ledger=false",)),
    _Arm("no slow update", ("optimizer.slow_update.enabled=false",)),
    _Arm("no meta skill", ("optimizer.meta_skill=false",)),
    _Arm("no slow, no meta", ("optimizer.slow_update.enabled=false", "optimizer.meta_skill=false")),
)


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """An arm in a world, over all seeds: means of scores and counts."""

    world: str
    arm: str
    test: float
    accepts: float
    rejects: float
    target_calls: float
    optimizer_calls: float


def measure() -> Claim:
    """Compare the arms; the figure is how far the default is behind the best arm on test."""
    arms = [arm for arm in _ARMS if _possible(arm)]
    table = _rows(arms)
    behind = max(
        max(row.test for row in table if row.world == world)
        - next(row.test for row in table if row.world == world and row.arm == "default")
        for world in _WORLDS
    )
    return Claim(
        name="ablation",
        bar=None,
        unit="test score behind the best arm",
        parts=(Part("default", behind, "<=", 0.02),),
        detail={
            "rows": table,
            "seeds": _SEEDS,
            "not_in_this_version": [arm.name for arm in _ARMS if arm not in arms],
        },
    )


def _rows(arms: Sequence[_Arm]) -> list[Row]:
    return [_row(world, arm) for world in _WORLDS for arm in arms]


def _possible(arm: _Arm) -> bool:
    """Say whether this version has all settings of the arm."""
    with folder() as path:
        config = write_world(path, "http://127.0.0.1:9/v1", hidden_rules_world(1, 1, 1, 1), more=_MORE)
        try:
            prepared(config, workspace="none", concurrency=1, sets=arm.sets)
        except UsageError:
            return False
    return True


def _row(world: str, arm: _Arm) -> Row:
    runs = [_run(world, _WORLDS[world](seed, *_SIZES), seed, arm) for seed in _SEEDS]
    test, accepts, rejects, target, optimizer = (
        round(statistics.fmean(run[place] for run in runs), 3) for place in range(5)
    )
    return Row(
        world=world,
        arm=arm.name,
        test=test,
        accepts=accepts,
        rejects=rejects,
        target_calls=target,
        optimizer_calls=optimizer,
    )


def _run(brain: str, world: WorldTasks, seed: int, arm: _Arm) -> tuple[float, int, int, int, int]:
    with folder() as path, serve_in_thread() as server:
        config = write_world(path, server.url(brain), world, skill=_SKILL, more=_MORE)
        sets = (f"train.seed={seed}", *arm.sets)
        run = trained(prepared(config, workspace="run", concurrency=_SLOTS, sets=sets))
    summary, last = run.summary, run.summary.scores.last.test
    if last is None or last.hard is None:
        raise RuntimeError(f"{arm.name} was not scored on test")
    return last.hard, summary.accepts, summary.rejects, run.calls["target"], run.calls["optimizer"]


def _table() -> None:
    table = [msgspec.structs.astuple(row) for row in _rows([arm for arm in _ARMS if _possible(arm)])]
    for cells in (Row.__struct_fields__, *table):
        sys.stdout.write("  ".join(f"{cell!s:<16}" for cell in cells).rstrip() + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.worlds.ablation", description=__doc__)
    parser.add_argument("--table", action="store_true", help="print the rows instead of one JSON line")
    if parser.parse_args().table:
        _table()
    else:
        tell(measure())
