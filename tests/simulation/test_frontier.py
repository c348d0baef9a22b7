"""Improving several skills side by side keeps every promise of a run, and helps where one skill alone gets stuck."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

import msgspec
import pytest

from skillopt.domain.errors import BudgetReachedError, StoreError
from skillopt.domain.seeds import dice
from skillopt.kernel.events import FrontierStood, GateDecided, Measured
from skillopt.kernel.memory import MemoryShelf
from skillopt.phases.gate import GateSettings
from skillopt.testing.brains import BRAINS
from skillopt.testing.conversation import BrainReply, Conversation
from skillopt.testing.faults import FaultPlan
from skillopt.testing.worlds import coin_world
from skillopt.train.attribution.blame import blame_of
from skillopt.train.settings import SearchSettings
from tests.simulation.house import House, appends, dataset, house, live
from tests.simulation.memory_house import Accept, memory_house

THREE = SearchSettings(frontier=3, merge_every=2)


def never_back(conversation: Conversation) -> BrainReply:
    """Answer as the teacher of the rules, who has forgotten how to take a sentence out again."""
    reply = BRAINS["rules"](conversation)
    told = json.loads(reply.text)
    patch = told.get("patch", told)
    if "edits" in patch:
        patch["edits"] = [edit for edit in patch["edits"] if edit["op"] != "delete"]
    return BrainReply(text=json.dumps(told))


def remark(conversation: Conversation) -> BrainReply:
    """Propose a sentence that says nothing, another one each time."""
    edit = {"op": "append", "content": f"Note {conversation.digest} in passing."}
    return BrainReply(text=json.dumps({"patch": {"reasoning": "", "edits": [edit]}}))


def searching(home: House, search: SearchSettings = THREE) -> House:
    return home.but(plan=msgspec.structs.replace(home.plan, search=search))


def by_luck(seed: int, search: SearchSettings = THREE, gate: GateSettings = GateSettings(rule="strict")) -> House:
    """Return a house where only luck decides: with the strict rule its frontier is as busy as can be."""
    environment = dataset(coin_world(seed, 18, 12, 4))
    home = house(seed, epochs=3)
    plan = msgspec.structs.replace(home.plan, tasks=environment.tasks)
    brains = {"target_brain": "coin", "optimizer_brain": remark}
    return searching(home.but(environment=environment, plan=plan, gate=gate, **brains), search)


def remembering(seed: int) -> House:
    accept: Accept = "force" if seed % 2 else "gated"
    return searching(memory_house(seed, slow=accept, notes=accept), SearchSettings(frontier=3))


KINDS: dict[str, Callable[[int], House]] = {
    "luck": by_luck,
    "everything is kept": lambda seed: by_luck(seed, gate=GateSettings(rule="force")),
    "luck and slow updates": remembering,
    "a paired gate and halves": lambda seed: by_luck(seed, gate=GateSettings(bisect=True)),
    "answers that do not vary": lambda seed: by_luck(seed, gate=GateSettings(deterministic=True)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_kill_anywhere_changes_nothing(kind: str) -> None:
    for seed in range(1, 7):
        home = KINDS[kind](seed).faulty(FaultPlan.random(seed, 0.2 if seed % 2 else 0.0))
        whole = live(home)
        assert whole.error is None, f"seed {seed}"
        kill = dice("frontier", kind, seed).randrange(1, appends(home) + 1)
        shelf = MemoryShelf()
        killed, resumed = live(home, shelf, kill_at=kill), live(home, shelf)
        where = f"{kind}, seed {seed}, killed after record {kill}"
        assert isinstance(killed.error, StoreError), where
        assert resumed.events == whole.events, where
        assert resumed.lasting == whole.lasting, where
        assert killed.served + resumed.served <= whole.served + killed.in_flight_at_kill, where


def test_kills_all_along_a_run_that_merges_change_nothing() -> None:
    home = by_luck(7)
    whole = live(home)
    assert whole.view.search.merges
    for kill in range(1, appends(home) + 1, 11):
        shelf = MemoryShelf()
        killed, resumed = live(home, shelf, kill_at=kill), live(home, shelf)
        where = f"killed after record {kill}"
        assert resumed.events == whole.events, where
        assert resumed.lasting == whole.lasting, where
        assert killed.served + resumed.served <= whole.served + killed.in_flight_at_kill, where


@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_workers_and_passing_faults_give_the_same_bytes(kind: str) -> None:
    for seed in range(1, 4):
        home = KINDS[kind](seed)
        whole = live(home)
        for width in (1, 2, 64):
            for rate in (0.0, 0.2):
                again = live(home.at_once(width).faulty(FaultPlan.random(seed, rate)))
                where = f"{kind}, seed {seed}, {width} workers, faults {rate}"
                assert again.events == whole.events, where
                assert again.lasting == whole.lasting, where


def test_a_cap_stops_and_goes_on() -> None:
    for seed in range(1, 9):
        home = by_luck(seed)
        whole = live(home)
        shelf = MemoryShelf()
        stopped = live(home.at_once(7, calls=whole.calls // 2), shelf)
        assert isinstance(stopped.error, BudgetReachedError), f"seed {seed}"
        assert live(home, shelf).lasting == whole.lasting, f"seed {seed}"


def test_a_frontier_of_one_is_the_loop_without_any() -> None:
    for seed in range(1, 9):
        assert live(searching(house(seed), SearchSettings(merge_every=1))).events == live(house(seed)).events


def test_every_step_starts_from_a_member_and_is_gated_against_it() -> None:
    seen = Counter[str]()
    for seed in range(1, 13):
        lived = live(by_luck(seed))
        gates = {gate.origin: gate for gate in lived.events_of(GateDecided)}
        for stood in lived.events_of(FrontierStood):
            members = {member.origin: member for member in stood.members}
            assert 1 <= len(members) <= 3, f"seed {seed}"
            if stood.parent:
                assert gates[f"step_{stood.step:04d}"].parent_digest == members[stood.parent].skill_digest
                assert lived.records[stood.step - 1].parent_origin == stood.parent
                seen[stood.parent] += 1
        best = [record.best_score for record in lived.records if record.best_score is not None]
        assert best == sorted(best), f"seed {seed}: the best overall stays the best"
        assert lived.records[-1].best_origin in members, f"seed {seed}"
        for merge in lived.view.search.merges:
            assert merge.gate is not None
            assert merge.gate.parent_digest == merge.merged.better_digest
            seen[f"merge: {merge.gate.verdict}"] += 1
    assert {"merge: reject", "initial_skill"} <= set(seen)


def test_merged_lines_keep_the_step_that_brought_them() -> None:
    merged = 0
    for seed in range(1, 7):
        lived = live(by_luck(seed, gate=GateSettings(rule="force")))
        blame = blame_of(lived.events)
        for merge in lived.view.search.merges:
            if merge.gate is None or merge.gate.verdict != "accept":
                continue
            merged += 1
            origins = {line.origin for line in blame.pages[merge.merged.made.skill_digest]["SKILL.md"] if line.edit}
            assert merge.merged.origin not in origins, f"seed {seed}"
            assert len(origins) > 1, f"seed {seed}"
    assert merged


def test_where_answers_do_not_vary_the_boards_of_members_are_whole() -> None:
    for seed in range(1, 7):
        home = searching(house(seed, val=16, epochs=3).but(gate=GateSettings(deterministic=True)))
        lived = live(home)
        boards = {board.label: len(board.rows) for board in lived.events_of(Measured) if board.split == "val"}
        accepted = {gate.origin for gate in lived.events_of(GateDecided) if gate.verdict == "accept"}
        assert boards == dict.fromkeys({"baseline", *accepted}, 16), f"seed {seed}"


def test_the_paired_gate_errs_no_more_often_with_several_parents() -> None:
    """No change helps anywhere here, so every accept is a false one; alpha is 0.05."""
    gates, accepts = 0, 0
    for seed in range(1, 21):
        lived = live(by_luck(seed, gate=GateSettings()))
        tested = [gate for gate in lived.events_of(GateDecided) if gate.calls]
        gates += len(tested)
        accepts += sum(gate.verdict == "accept" for gate in tested)
    assert gates > 100
    assert accepts <= 0.05 * gates, f"{accepts} false accepts in {gates} gates"


def test_it_helps_where_nothing_is_taken_back_and_costs_little_where_it_is() -> None:
    """The harmful rule comes in together with good ones; from its parent one can go on without it."""
    found = {}
    for name, brain in (("takes back", "rules"), ("never takes back", never_back)):
        for width in (1, 3):
            right, calls = 0.0, 0
            for seed in range(1, 16):
                home = house(seed, train_size=24, val=16, test=40, epochs=4).but(optimizer_brain=brain)
                lived = live(searching(home, SearchSettings(frontier=width)))
                scored = lived.summary.scores.best.test
                assert scored is not None
                assert scored.hard is not None
                right, calls = right + scored.hard / 15, calls + lived.served
            found[name, width] = (right, calls)
    told = ", ".join(f"{name}, {width}: {right:.3f} in {calls}" for (name, width), (right, calls) in found.items())
    assert found["never takes back", 3][0] > found["never takes back", 1][0] + 0.02, told
    assert found["takes back", 3][0] >= found["takes back", 1][0] - 0.01, told
    assert found["takes back", 3][1] < 1.1 * found["takes back", 1][1], told
