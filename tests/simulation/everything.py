"""Houses in which everything is on that a training can do, each in another combination.
Owns the combinations and where a run is killed; refuses to know what a test wants to see."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

from skillopt.domain.seeds import dice
from skillopt.kernel.limits.terms import LimitSettings
from skillopt.kernel.memory import MemoryShelf
from skillopt.phases.aggregate import AggregateSettings
from skillopt.phases.gate import GateSettings
from skillopt.phases.judging.settings import JudgeSettings
from skillopt.testing.clock import run_virtual
from skillopt.train.settings import SearchSettings
from tests.simulation.house import House, Session
from tests.simulation.judged import marked_by_a_judge
from tests.simulation.memory_house import Accept, memory_house

Variant = Literal["patch", "suggestions", "documents", "autonomous", "ahead", "frontier"]
ALL: tuple[Variant, ...] = get_args(Variant)
GUESSES = 12
_KILLS = 60


def everything(variant: Variant, seed: int, *, small: bool = False) -> House:
    """Return the house of a variant; a small one has two epochs of one or two steps."""
    return {
        "patch": _patch,
        "suggestions": _suggestions,
        "documents": _documents,
        "autonomous": _autonomous,
        "ahead": _ahead,
        "frontier": _frontier,
    }[variant](seed, small)


def _patch(seed: int, small: bool) -> House:
    """Exact edits, marked by a judge, through the paired gate, in halves where it says no; all else is gated too."""
    home = marked_by_a_judge(_optimized(_remembering(seed, small, "gated"), edit_budget=3))
    judge = JudgeSettings(mode="pairwise") if seed % 2 else JudgeSettings(repeats=2)
    return home.but(gate=GateSettings(bisect=True, bisect_levels=None, wave=3), judge=judge)


def _suggestions(seed: int, small: bool) -> House:
    """Rewrites from suggestions, the strict gate; guidance and reminders are kept by force."""
    return _optimized(_remembering(seed, small, "force"), mode="rewrite_from_suggestions", edit_budget=2)


def _documents(seed: int, small: bool) -> House:
    """Whole documents, all of them kept."""
    home = _optimized(_remembering(seed, small, "force" if seed % 2 else "gated"), mode="full_rewrite_minibatch")
    return home.but(gate=GateSettings(rule="force"))


def _autonomous(seed: int, small: bool) -> House:
    """The optimizer sets its own budget and is asked for every merge."""
    home = _optimized(_remembering(seed, small, "gated"), budget_control="autonomous", edit_budget=3)
    return home.but(gate=GateSettings(rule="strict", metric="mixed", bisect=True))


def _ahead(seed: int, small: bool) -> House:
    """The paired gate on guidance by force, with guesses of what is asked next."""
    home = _remembering(seed, small, "force").but(gate=GateSettings(control="run", guard="block", wave=2))
    return home.but(limits=LimitSettings(concurrency=7, speculation=GUESSES))


def _frontier(seed: int, small: bool) -> House:
    """Three skills side by side, put together after every other step, through the strict gate, with halves."""
    home = _optimized(_remembering(seed, small, "gated"), edit_budget=2).but(
        gate=GateSettings(rule="strict", bisect=True)
    )
    return home.but(plan=msgspec.structs.replace(home.plan, search=SearchSettings(frontier=3, merge_every=2)))


def _remembering(seed: int, small: bool, accept: Accept) -> House:
    size, val, epochs = (6, 4, 2) if small else (12, 6, 3)
    home = memory_house(seed, slow=accept, notes=accept, pairs="mixed", epochs=epochs, train_size=size, val=val)
    return home.but(aggregate=AggregateSettings(fan_in=2, ask="always"))


def _optimized(home: House, **settings: object) -> House:
    optimizer = msgspec.structs.replace(home.plan.optimizer, **settings)
    return home.but(plan=msgspec.structs.replace(home.plan, optimizer=optimizer))


def kills(home: House, seed: int) -> list[int]:
    """Return where to kill a run of this house: wherever a phase closes, and at 60 records drawn from the rest."""
    session = Session(home, MemoryShelf())
    run_virtual(session.live())
    closings = set(session.closings)
    rest = [record for record in range(1, session.appended + 1) if record not in closings]
    return sorted(closings | set(dice("kills", seed).sample(rest, min(_KILLS, len(rest)))))
