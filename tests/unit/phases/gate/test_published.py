from __future__ import annotations

import asyncio

import pytest

from skillopt.domain.evidence.terms import Terms
from skillopt.domain.progress.standing import Standing
from skillopt.domain.progress.state import Gated
from skillopt.domain.scores import Score, Scoreboard, Scored
from skillopt.domain.skill import Candidate, Edit, EditOp, Skill, apply
from skillopt.domain.verdicts import Accept, Inconclusive, Reject
from skillopt.phases.gate import Compared, GateSettings, gate

STRICT = GateSettings(rule="strict")
SKILL = Skill.from_text("# Rules\n")
CHANGED = apply(SKILL, [Edit(op=EditOp.APPEND, content="Be brief.")])


def board(marks: str) -> Scoreboard:
    """Return a board: 1 right, 0 wrong, h half marks, x failed."""
    scores = {"1": Score(hard=1, soft=1), "0": Score(hard=0, soft=0), "h": Score(hard=0, soft=0.5)}
    return Scoreboard(
        tuple(
            Scored(task_id=f"t{place}", cause="UnavailableError")
            if mark == "x"
            else Scored(task_id=f"t{place}", score=scores[mark])
            for place, mark in enumerate(marks)
        )
    )


def decided(
    candidate: str, incumbent: str, best: str, settings: GateSettings = STRICT, change: Candidate = CHANGED
) -> tuple[Gated, list[Skill]]:
    measured: list[Skill] = []

    class Val:
        """Val, put to the candidate once."""

        task_ids = tuple(f"t{place}" for place in range(len(candidate)))

        async def whole(self, skill: Skill) -> Scoreboard:
            """Measure all of it."""
            measured.append(skill)
            return board(candidate)

        def foresee(self, gated: Gated) -> None:
            """Refuse: a published rule needs every score before it says anything."""
            raise AssertionError(f"{gated} was foreseen")

        async def some(self, skill: Skill, places: tuple[int, ...], trial: int) -> Scoreboard:
            """Refuse: the published rules want all or nothing."""
            raise AssertionError(f"{places} were asked for")

    standing = Standing(skill=SKILL, board=board(incumbent), origin="initial_skill")
    best_standing = Standing(skill=SKILL, board=board(best), origin="step_0001", step=1)
    compared = Compared(metric=settings.compared, incumbent=standing, best=best_standing)
    terms = Terms(order=tuple(range(len(candidate))), trials=1)
    return asyncio.run(gate(settings, Val(), terms, change, compared)), measured


LENIENT = GateSettings(rule="strict", max_failed=1.0)
SOFT = GateSettings(rule="strict", metric="soft")
FORCE = GateSettings(rule="force")


@pytest.mark.parametrize(
    ("candidate", "incumbent", "best", "settings", "verdict", "new_best"),
    [
        pytest.param("11", "10", "10", STRICT, Accept, True, id="better than both"),
        pytest.param("10", "00", "11", STRICT, Accept, False, id="better than the incumbent only"),
        pytest.param("10", "00", "10", STRICT, Accept, False, id="a tie with the best is no new best"),
        pytest.param("10", "01", "01", STRICT, Reject, False, id="a tie is a reject"),
        pytest.param("00", "00", "00", STRICT, Reject, False, id="zero against zero is a tie"),
        pytest.param("10", "00", "00", STRICT, Accept, True, id="zero is a score"),
        pytest.param("00", "10", "10", STRICT, Reject, False, id="worse"),
        pytest.param("h0", "00", "00", STRICT, Reject, False, id="half marks do not count as right"),
        pytest.param("h0", "00", "00", SOFT, Accept, True, id="half marks count in the soft metric"),
        pytest.param("xx", "10", "10", LENIENT, Inconclusive, False, id="nothing measured"),
        pytest.param("1x", "x1", "11", LENIENT, Inconclusive, False, id="nothing measured on both sides"),
        pytest.param("x1", "10", "10", LENIENT, Accept, True, id="only tasks measured on both sides are compared"),
        pytest.param("1" * 9 + "x", "0" * 10, "0" * 10, STRICT, Accept, True, id="one in ten may fail"),
        pytest.param("1" * 8 + "xx", "0" * 10, "0" * 10, STRICT, Inconclusive, False, id="two may not"),
        pytest.param("00", "11", "11", FORCE, Accept, False, id="forced, but no new best"),
        pytest.param("11", "10", "10", FORCE, Accept, True, id="forced and best"),
        pytest.param("xx", "11", "11", FORCE, Inconclusive, False, id="an outage is not forced in"),
    ],
)
def test_what_the_gate_says(
    candidate: str, incumbent: str, best: str, settings: GateSettings, verdict: type, new_best: bool
) -> None:
    gated, measured = decided(candidate, incumbent, best, settings)
    assert type(gated.verdict) is verdict
    assert (isinstance(gated.verdict, Accept) and gated.verdict.new_best) is new_best
    assert measured == [CHANGED.skill]
    assert gated.board == board(candidate)
    assert gated.verdict.calls == len(candidate)


@pytest.mark.parametrize("settings", [GateSettings(), STRICT, FORCE])
def test_a_candidate_that_changes_nothing_is_decided_without_a_call(settings: GateSettings) -> None:
    gated, measured = decided("11", "10", "11", settings, Candidate.unchanged(SKILL))
    assert isinstance(gated.verdict, Reject)
    assert (gated.verdict.candidate, gated.verdict.incumbent, gated.verdict.best) == (0.5, 0.5, 1.0)
    assert gated.verdict.calls == 0
    assert gated.board is None
    assert measured == []


def test_a_change_that_no_model_sees_is_no_change() -> None:
    hidden = SKILL.with_file("SKILL.md", SKILL.text + "\n<!-- APPENDIX_START -->\n<!-- APPENDIX_END -->\n")
    candidate = Candidate(skill=hidden, parent_digest=SKILL.rendered_digest)
    assert decided("11", "10", "10", change=candidate)[1] == []
