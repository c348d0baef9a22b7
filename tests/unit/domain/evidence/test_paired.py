from __future__ import annotations

import msgspec
import pytest

from skillopt.domain.evidence.paired import paired
from skillopt.domain.evidence.terms import Terms
from skillopt.domain.seeds import Dice, dice
from tests.unit.domain.evidence.flow import Answer, calls, followed

FORTY = Terms(order=tuple(range(40)))
MIXED = [1.0] * 16 + [0.0] * 12 + [0.5] * 12


def known_of(chances: list[float], draw: Dice, trials: int = 3) -> list[int | None]:
    return [sum(draw.random() < chance for _ in range(trials)) for chance in chances]


def terms_of(draw: Dice, size: int = 40, **changes: object) -> Terms:
    order = list(range(size))
    draw.shuffle(order)
    return msgspec.structs.replace(FORTY, order=tuple(order), **changes)


def answering(chances: list[float], draw: Dice) -> Answer:
    return lambda place, wave: float(draw.random() < chances[place])


def rate(verdict: str, before: list[float], after: list[float], gates: int = 300, trials: int = 3) -> float:
    found = 0
    for seed in range(gates):
        draw = dice("gate", seed)
        course = paired(terms_of(draw, len(before), trials=trials), known_of(before, draw, trials))
        finding, _ = followed(course, answering(after, draw))
        found += finding.kind == verdict
    return found / gates


def test_a_candidate_that_mends_everything_is_accepted_after_one_wave_before_the_sweep() -> None:
    finding, waves = followed(paired(FORTY, [0] * 24 + [3] * 16), lambda place, wave: 1.0)
    assert finding.kind == "accept"
    assert (len(waves[0].places), finding.look) == (8, 1)
    assert sorted(place for wave in waves for place in wave.places) == list(range(40))
    assert (finding.wins, finding.losses, finding.regressed) == (24, 0, ())
    assert finding.p is not None
    assert finding.p <= finding.spent


def test_a_candidate_that_breaks_most_is_rejected_within_twelve_calls() -> None:
    for share in (0.6, 0.8, 1.0):
        for solved in (24, 30, 36):
            counts = []
            for seed in range(41):
                draw = dice("broken", seed, solved)
                known = known_of([1.0] * solved + [0.0] * (40 - solved), draw)
                broken = set(draw.sample(range(solved), min(solved, round(40 * share))))
                after = [float(place < solved and place not in broken) for place in range(40)]
                finding, waves = followed(paired(terms_of(draw), known), answering(after, draw))
                assert finding.kind == "reject"
                counts.append(calls(waves))
            assert sorted(counts)[20] <= 12, (share, solved)


def test_a_change_that_helps_nowhere_is_rarely_accepted_and_a_fix_of_a_fifth_nearly_always() -> None:
    mended = [*MIXED[:16], *[1.0] * 4, *[0.0] * 8, *[1.0] * 4, *[0.5] * 8]
    assert rate("accept", MIXED, MIXED) <= 0.05
    assert rate("accept", MIXED, mended) >= 0.95


def test_a_trade_is_held_by_the_net_rule() -> None:
    traded = [*[0.0] * 4, *MIXED[4:16], *[1.0] * 2, *[0.0] * 10, *[1.0] * 2, *[0.5] * 10]
    assert rate("accept", MIXED, traded) <= 0.05


@pytest.mark.parametrize("trials", [1, 2, 3])
def test_coins_are_coins_however_often_they_were_thrown(trials: int) -> None:
    assert rate("accept", [0.5] * 40, [0.5] * 40, trials=trials) <= 0.05


def test_where_nothing_can_be_won_nothing_is_asked() -> None:
    finding, waves = followed(paired(FORTY, [3] * 40), lambda place, wave: 1.0)
    assert (finding.kind, waves) == ("reject", [])
    finding, waves = followed(paired(FORTY, [3] * 39 + [0]), lambda place, wave: 1.0)
    assert (finding.kind, waves) == ("inconclusive", [])
    assert finding.needed == 80


def test_a_hopeless_candidate_is_given_up_early() -> None:
    finding, waves = followed(paired(FORTY, [0] * 40), lambda place, wave: 0.0)
    assert (finding.kind, calls(waves)) == ("reject", 40)
    assert "futile" in finding.reason


def test_a_failed_trial_takes_its_task_out_and_moves_nothing() -> None:
    known = known_of([0.0] * 20 + [1.0] * 20, dice("known"))
    with_it, _ = followed(paired(FORTY, known), lambda place, wave: None if place == 0 else float(place % 3 > 0))
    order = tuple(range(1, 40))
    without, _ = followed(paired(msgspec.structs.replace(FORTY, order=order), known), lambda p, _: float(p % 3 > 0))
    assert (with_it.kind, with_it.effect) == (without.kind, without.effect)
    unknown, waves = followed(paired(FORTY, [None, *known[1:]]), lambda place, wave: float(place % 3 > 0))
    assert unknown.effect == without.effect
    assert all(0 not in wave.places for wave in waves)


def test_solved_tasks_that_fail_twice_are_named_and_may_stop_the_candidate() -> None:
    known = known_of([0.0] * 24 + [1.0] * 16, dice("known"))

    def answer(place: int, _wave: object) -> float:
        return float(place != 30)

    finding, waves = followed(paired(FORTY, known), answer)
    assert (finding.kind, finding.regressed) == ("accept", (30,))
    assert [wave.trial for wave in waves if wave.places == (30,)] == [1]
    blocked, _ = followed(paired(msgspec.structs.replace(FORTY, block=True), known), answer)
    assert (blocked.kind, blocked.regressed) == ("reject", (30,))


def test_waves_double_inside_the_first_look_and_every_task_is_asked_in_order() -> None:
    terms = Terms(order=tuple(reversed(range(100))))
    _, waves = followed(paired(terms, [1] * 100), lambda place, wave: float(place % 2))
    assert [len(wave.places) for wave in waves if wave.trial == 0][:4] == [8, 16, 32, 44]
    assert waves[0].places == tuple(range(99, 91, -1))
