from __future__ import annotations

from skillopt.domain.agency.conduct import Conduct
from skillopt.train.pages.agents import sentences, worked


def test_a_skill_that_is_rarely_read_comes_with_advice() -> None:
    said = " ".join(sentences(Conduct(runs=9, opened=1, unopened=7, tool_calls=12)))
    assert "for 1 of the 8 that tell" in said
    assert "agent.skill: told" in said
    assert "agent.skill" not in " ".join(sentences(Conduct(runs=9, opened=8, unopened=1)))


def test_what_stood_in_the_way_is_told_and_what_did_not_is_not() -> None:
    assert "3 tool calls were denied. 2 attempts ended without an answer" in str(
        list(worked(Conduct(runs=9, denied=3, repeated=2)))
    )
    (only,) = sentences(Conduct(runs=9))
    assert "9 answers were used, made with 0 tool calls" in only
