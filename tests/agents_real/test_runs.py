"""Whole runs of skillopt with the real Codex and the real Claude Code: they end in a better skill, in the same bytes
however they were run, and what goes wrong is told as what it is."""

from __future__ import annotations

import os
import signal

from tests.agents_real.product import Product, goes_on, has_ended

SIZES = (3, 3, 2)
HUNG_AT = 20  # a request of the model: in the middle of a run of about 50
ONE_BY_ONE = f"agent-rules,at={HUNG_AT}:hang"


def hard(summary: dict[str, object], label: str, split: str) -> float | None:
    scores = summary["scores"]
    assert isinstance(scores, dict)
    score = scores[label][split]
    return None if score is None else score["hard"]


def test_a_run_ends_in_a_better_skill_and_in_the_same_bytes_though_killed_and_one_by_one(product: Product) -> None:
    product.world(*SIZES)
    product.write(concurrency=4)
    summary = product.train().summary
    assert summary["status"] == "finished"
    before, after = hard(summary, "baseline", "test"), hard(summary, "best", "test")
    assert before is not None
    assert after is not None
    assert after > before
    undisturbed = product.results()
    assert undisturbed[0] != (product.project / "SKILL.md").read_bytes()
    assert {seen.skill_opened for seen in product.transcripts()} == {"yes"}

    asked = product.requests()
    assert asked > HUNG_AT
    again = product.train()
    assert (again.code, product.requests()) == (0, asked), "what was paid for is answered by the journal"
    assert again.summary["scores"] == summary["scores"]

    _killed_in_the_middle(product)
    finished = product.run("train", str(product.config), "--run", "killed", "--json")
    assert finished.code == 0, finished.err
    assert product.results("killed") == undisturbed


def test_a_run_with_a_further_program_ends_in_a_better_skill(further: Product) -> None:
    further.world(*SIZES)
    further.write(concurrency=2)
    said = further.train()
    assert (said.code, said.summary["status"]) == (0, "finished"), said.err
    assert (hard(said.summary, "best", "test") or 0.0) > (hard(said.summary, "baseline", "test") or 0.0)
    assert further.results()[0] != (further.project / "SKILL.md").read_bytes()
    assert {seen.skill_opened for seen in further.transcripts()} == {"yes"}
    asked = further.requests()
    assert (further.train().code, further.requests()) == (0, asked), "what was paid for is answered by the journal"


def _killed_in_the_middle(product: Product) -> None:
    """Run it anew with one agent at a time, until its model falls silent, and kill skillopt and its group then."""
    product.workspace.rename(product.folder / "first")
    product.write(target=product.behind(ONE_BY_ONE), concurrency=1)
    with product.started("train", str(product.config), "--run", "killed", "--json") as command:
        while goes_on(command) and not any(role.faults for role in product.server.stats(ONE_BY_ONE).values()):
            pass
        assert command.poll() is None, command.communicate()
        agents = [process for process in product.alive() if process != command.pid]
        assert agents, "an agent is at work while it is killed"
        os.killpg(command.pid, signal.SIGKILL)
        command.communicate()
    assert [process for process in agents if not has_ended(process, 10.0)] == []
    assert product.lasting() == []
    assert product.requests(ONE_BY_ONE) == HUNG_AT


def test_it_is_an_optimizer_that_is_asked(product: Product) -> None:
    product.world(*SIZES)
    product.write(
        target={"backend": "scripted", "scenario": "rules"},
        optimizer=product.behind("agent-rules", "scripted-optimizer"),
    )
    said = product.train()
    assert said.code == 0, said.err
    assert (hard(said.summary, "best", "val") or 0.0) > (hard(said.summary, "baseline", "val") or 0.0)
    served = product.server.stats("agent-rules")
    assert set(served) == {"optimizer"}
    assert served["optimizer"].requests >= 1
    asked = product.requests()
    assert product.train().code == 0
    assert product.requests() == asked


def test_a_key_that_is_refused_ends_the_run_and_is_named(product: Product) -> None:
    refusing = "agent-rules,kinds=auth"
    product.world(*SIZES)
    product.write(target=product.behind(refusing), concurrency=2)
    said = product.train()
    assert (said.code, said.summary["status"]) == (3, "failed")
    assert "api_key" in said.err
    assert [hard(said.summary, "baseline", split) for split in ("val", "test")] == [None, None]
    assert product.requests(refusing) <= 2 * 2, "nothing is begun once the key was refused"


def test_a_model_that_refuses_is_a_failure_of_each_task_and_no_score(product: Product) -> None:
    product.world(1, 2, 1)
    product.write(target=product.behind("agent-rules,kinds=unknown_model"))
    said = product.evaluate()
    assert (said.code, said.summary["failed"]) == (3, 2)
    assert "None of the 2 tasks has a score (RefusedError)" in said.err
    assert unscored(said.summary)


def test_a_model_that_hangs_is_an_outage_that_more_time_may_end(product: Product) -> None:
    product.world(1, 2, 1)
    product.write(target=product.behind("agent-rules,kinds=hang"), agent={"timeout": 5})
    said = product.evaluate()
    assert said.code == 3
    assert "None of the 2 requests of trial_0/val was answered" in said.err
    assert "still at work after 5 s" in said.err or "timed out" in said.err, "ours, or the program's own just before"
    assert unscored(said.summary)


def unscored(summary: dict[str, object]) -> bool:
    """Say whether nothing was measured, which is not the same as 0."""
    score = summary["score"]
    return score is None or (isinstance(score, dict) and (score["hard"], score["n"]) == (None, 0))


def test_a_program_that_is_not_installed_is_missed_with_the_line_that_installs_it(product: Product) -> None:
    product.world(1, 1, 1)
    product.write()
    product.env["PATH"] = "/nowhere"
    said = product.train()
    assert said.code == 3
    assert "npm install --global @" in said.err
    assert product.requests() == 0


def test_a_path_that_leads_nowhere_is_named(product: Product) -> None:
    product.world(1, 1, 1)
    product.write(agent={"path": "gone"})
    said = product.train("--trust")
    assert said.code == 3
    assert f"{product.project}/gone" in said.err
