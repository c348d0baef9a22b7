"""The picture that a run's facts add up to."""

from __future__ import annotations

import msgspec
import pytest

from skillopt.cli.shown.picture import ACCEPTED, INCONCLUSIVE, REJECTED, SKIPPED, Picture
from skillopt.domain.usage import Usage
from skillopt.kernel.events import (
    AttemptFailed,
    CandidateBisected,
    CandidateMade,
    EpochEnded,
    GateDecided,
    Mean,
    Measured,
    PhaseBegan,
    PhaseEnded,
    RunBegan,
    SlotsChanged,
    SlowUpdated,
    StepEnded,
    UnitSettled,
)


def began(metric: str = "hard") -> RunBegan:
    return RunBegan(
        run="r1",
        config_digest="c",
        version="0",
        epochs=2,
        steps_per_epoch=2,
        total_steps=4,
        sizes={},
        models={},
        gate_rule="paired",
        gate_metric=metric,
        skill_digest="seed",
    )


def measured(digest: str, hard: float, split: str = "val", label: str = "baseline") -> Measured:
    mean = Mean(hard=hard, soft=hard / 2, n=10, low=hard - 0.1, high=hard + 0.1)
    return Measured(label=label, split=split, skill_digest=digest, mean=mean, by_type={}, rows=())


def decided(verdict: str, action: str) -> GateDecided:
    return GateDecided(
        origin="step_0001",
        rule="paired",
        metric="hard",
        verdict=verdict,
        action=action,
        reason="",
        candidate=None,
        incumbent=None,
        best=None,
        n=0,
        failed=0,
        calls=0,
    )


def ended(current: float | None, best: float | None) -> StepEnded:
    return StepEnded(
        step=1,
        epoch=1,
        step_in_epoch=1,
        skill_digest="now",
        best_digest="top",
        current_score=current,
        best_score=best,
        best_step=1,
        current_origin="step_0001",
        best_origin="step_0001",
    )


def phase_ended(path: str) -> PhaseEnded:
    usage = Usage(calls=2, input_tokens=10)
    return PhaseEnded(path=path, verb="rollout", role="target", answered=2, failed=0, causes={}, usage=usage)


def test_units_count_for_their_own_phase() -> None:
    picture = Picture()
    picture.see(PhaseBegan(path="a", verb="rollout", units=3))
    picture.see(PhaseBegan(path="b", verb="reflect", units=1))
    picture.see(UnitSettled("a", answered=True, replayed=False))
    picture.see(UnitSettled("a", answered=False, replayed=True, cause="timeout"))
    picture.see(UnitSettled("never began", answered=True, replayed=False))
    rollout, reflect = picture.phases["a"], picture.phases["b"]
    assert (rollout.settled, rollout.replayed, rollout.failed, rollout.units) == (2, 1, 1, 3)
    assert reflect.settled == 0
    assert picture.phase is reflect
    assert picture.calls == 2
    picture.see(phase_ended("b"))
    assert picture.phase is rollout
    picture.see(phase_ended("a"))
    assert picture.phase is None
    assert picture.usage == Usage(calls=4, input_tokens=20)


@pytest.mark.parametrize(("kept", "glyph"), [("step_0002b", ACCEPTED), ("step_0002", REJECTED)])
def test_a_bisected_step_has_one_glyph(kept: str, glyph: str) -> None:
    picture = Picture()
    for verdict in ("accept", "reject", "reject", "accept"):
        picture.see(decided(verdict, verdict))
    tried = ("step_0002a", "step_0002b")
    made = CandidateMade(step=2, skill_digest="s", changed=True, edits=())
    picture.see(CandidateBisected(origin="step_0002", kept=kept, tried=tried, made=made))
    assert picture.history == ACCEPTED + glyph


@pytest.mark.parametrize(
    ("verdict", "action", "glyph"),
    [
        ("accept", "accept_new_best", ACCEPTED),
        ("reject", "reject", REJECTED),
        ("inconclusive", "inconclusive", INCONCLUSIVE),
        ("reject", "skip_no_patches", SKIPPED),
    ],
)
def test_history_has_a_glyph_for_each_decision(verdict: str, action: str, glyph: str) -> None:
    picture = Picture()
    picture.see(decided(verdict, action))
    picture.see(decided("reject", "reject"))
    assert picture.history == glyph + REJECTED


def test_what_is_decided_between_steps_is_no_step_but_moves_the_scores() -> None:
    picture = Picture()
    picture.see(decided("accept", "accept_new_best"))
    picture.see(ended(0.5, 0.7))
    picture.see(msgspec.structs.replace(decided("accept", "accept"), origin="slow_update_epoch_02"))
    shared = {name: getattr(ended(0.0, 0.7), name) for name in EpochEnded.__struct_fields__}
    picture.see(EpochEnded(**shared))
    assert picture.history == ACCEPTED
    assert picture.scores == (0.0, 0.7)


@pytest.mark.parametrize(("metric", "score"), [("hard", 0.6), ("soft", 0.3), ("mixed", None)])
def test_the_baseline_on_val_is_where_scores_start(metric: str, score: float | None) -> None:
    picture = Picture()
    picture.see(began(metric))
    picture.see(measured("seed", 0.9, split="test"))
    assert picture.scores == (None, None)
    picture.see(measured("seed", 0.6))
    assert picture.scores == (score, score)
    assert picture.mean(best=True) == picture.mean(best=False) == measured("seed", 0.6).mean


def test_scores_and_intervals_follow_the_step() -> None:
    picture = Picture()
    picture.see(began())
    picture.see(measured("now", 0.5, label="step_0001"))
    picture.see(measured("top", 0.7, label="step_0001"))
    picture.see(ended(0.5, 0.7))
    assert picture.scores == (0.5, 0.7)
    assert picture.mean(best=False) == measured("now", 0.5).mean
    assert picture.mean(best=True) == measured("top", 0.7).mean


def test_a_score_of_zero_is_a_score() -> None:
    picture = Picture()
    picture.see(ended(0.0, None))
    assert picture.scores == (0.0, None)


def test_slots_and_failures_keep_the_last_word() -> None:
    picture = Picture()
    picture.see(SlotsChanged("main", 16, "rate limited"))
    picture.see(SlotsChanged("main", 17, "steady"))
    picture.see(AttemptFailed("a", "rate_limited", "429", 1.0))
    picture.see(AttemptFailed("a", "unavailable", "cut", None))
    assert picture.slots["main"].slots == 17
    assert picture.failures == 2
    assert picture.last_failure is not None
    assert picture.last_failure.kind == "unavailable"


def test_a_region_that_was_only_put_there_leaves_the_score_its_interval() -> None:
    picture = Picture()
    mean = Mean(hard=0.5, soft=0.5, n=8, failed=0, low=0.2, high=0.8)
    picture.see(began())
    picture.see(Measured(label="baseline", split="val", skill_digest="seed", mean=mean, by_type={}, rows=()))
    for action, digest in (("inject_placeholder", "worn"), ("force_accept", "guided")):
        picture.see(
            SlowUpdated(
                epoch=1,
                origin="slow_update_epoch_01",
                action=action,
                reasoning="",
                content="",
                skill_digest=digest,
            )
        )
    assert picture.mean_of("worn") == mean
    assert picture.mean_of("guided") is None
