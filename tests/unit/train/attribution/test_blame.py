from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from skillopt.kernel.events import (
    BatchGraded,
    CandidateMade,
    EditFact,
    Event,
    GateDecided,
    Mean,
    Measured,
    RunEnded,
    SkillKept,
    StepBegan,
    StepEnded,
    TaskScore,
)
from skillopt.testing.worlds import RULES
from skillopt.train.attribution.blame import OWNER, SEED, Line, blame_of
from tests.simulation.house import SEED_SKILL, Lived, house, live
from tests.unit.kernel.test_events import EXAMPLES

MEAN = Mean(hard=0.5, soft=0.5, n=2)


def kept(digest: str, text: str) -> SkillKept:
    return SkillKept(digest=digest, name=None, files={"SKILL.md": text})


def measured(digest: str, marks: str) -> Measured:
    rows = tuple(TaskScore(f"v{place}", 0, float(mark), float(mark)) for place, mark in enumerate(marks))
    return Measured(label=digest, split="val", skill_digest=digest, mean=MEAN, by_type={}, rows=rows)


def edit(content: str, tasks: Sequence[str] = (), line: int | None = None, op: str = "append") -> EditFact:
    return EditFact(
        op=op,
        content=content,
        target="",
        file="SKILL.md",
        support=1,
        source="failure",
        status="applied",
        tasks=tuple(tasks),
        line=line,
    )


def decided(origin: str, parent: str, digest: str, verdict: str = "accept") -> GateDecided:
    example = EXAMPLES[GateDecided]
    assert isinstance(example, GateDecided)
    return msgspec.structs.replace(
        example, origin=origin, verdict=verdict, action=verdict, parent_digest=parent, skill_digest=digest
    )


def step(number: int, before: str, after: str, edits: Sequence[EditFact], verdict: str = "accept") -> list[Event]:
    """Return the events of a step in which tasks t0 and t1 failed and t2 did not."""
    rows = (TaskScore("t0", 0, 0.0, 0.0), TaskScore("t1", 0, 0.0, 0.5), TaskScore("t2", 0, 1.0, 1.0))
    stands = after if verdict == "accept" else before
    origin = f"step_{number:04d}"
    return [
        StepBegan(step=number, epoch=1, step_in_epoch=number, edit_budget=4, skill_digest=before),
        BatchGraded(step=number, batch=0, seed=0, mean=MEAN, rows=rows),
        CandidateMade(step=number, skill_digest=after, changed=True, edits=tuple(edits)),
        measured(after, "11"),
        decided(origin, before, after, verdict),
        ended(number, stands, origin),
    ]


def ended(number: int, digest: str, origin: str) -> StepEnded:
    example = EXAMPLES[StepEnded]
    assert isinstance(example, StepEnded)
    return msgspec.structs.replace(example, step=number, skill_digest=digest, current_origin=origin)


def lines(events: Sequence[Event], digest: str) -> dict[str, Line]:
    return {line.text: line for line in blame_of(events).pages[digest]["SKILL.md"]}


BEGUN: list[Event] = [kept("seed", "# Rules\n"), measured("seed", "01")]


@pytest.fixture(scope="module", params=[6, 14, 18])
def lived(request: pytest.FixtureRequest) -> Lived:
    return live(house(request.param, train_size=16, epochs=3))


def test_every_learned_line_of_a_real_run_knows_its_step_its_edit_its_tasks_and_the_evidence(lived: Lived) -> None:
    assert lived.view.ended is not None
    blame = blame_of(lived.events)
    texts = [line.text for line in blame.pages[lived.view.ended.best_digest]["SKILL.md"]]
    assert "\n".join(texts) + "\n" == lived.best
    learned = [line for line in blame.pages[lived.view.ended.best_digest]["SKILL.md"] if line.text not in SEED_SKILL]
    assert learned
    for line in learned:
        assert line.text in {rule.sentence for rule in RULES.rules}
        origin = blame.origins[line.origin]
        assert line.edit is not None
        assert line.edit.content == line.text
        assert line.failed_without, line
        assert origin.kept
        assert origin.gate is not None
        assert origin.gate.action.startswith("accept")
        assert origin.name == f"step_{origin.step:04d}"
        assert origin.better, "a strict accept has at least one val task that came out better"


def test_the_lines_of_the_seed_are_the_seeds(lived: Lived) -> None:
    for pages in blame_of(lived.events).pages.values():
        found = [line for line in pages["SKILL.md"] if line.text == "Answer in the answer tag."]
        assert [line.origin for line in found] == [SEED]


def test_every_candidate_of_a_run_has_its_lines_and_a_rejected_one_says_so(lived: Lived) -> None:
    blame = blame_of(lived.events)
    for gate in lived.events_of(GateDecided):
        pages = blame.pages[gate.skill_digest]["SKILL.md"]
        assert "\n".join(line.text for line in pages) + "\n" == lived.view.skills[gate.skill_digest].files["SKILL.md"]
        if gate.verdict == "reject" and gate.calls:
            assert not all(blame.origins[line.origin].kept for line in pages)


def test_lines_go_to_the_edit_that_holds_them() -> None:
    edits = [
        edit("Be brief.\nBe kind.", ["t0", "t2"], line=2),
        edit("Cite.", ["t1"]),
        edit("Be brief.", ["t1"], line=9),
    ]
    events = [
        *BEGUN,
        kept("one", "# Rules\nBe brief.\nBe kind.\nSay: Cite.\n\n\n\n\nBe brief.\n"),
        *step(1, "seed", "one", edits),
    ]
    found = blame_of(events).pages["one"]["SKILL.md"]
    assert [line.edit for line in found] == [None, edits[0], edits[0], edits[1], None, None, None, None, edits[2]]
    assert found[1].failed_without == ("t0",), "t2 was shown too, but it had not failed"
    origin = blame_of(events).origins["step_0001"]
    assert (origin.better, origin.worse) == (("v0",), ())


def test_a_changed_line_is_new_and_its_neighbours_are_not() -> None:
    events = [
        kept("seed", "# Rules\nBe brief.\nBe kind.\n"),
        kept("one", "# Rules\nBe very brief.\nBe kind.\n"),
        *step(1, "seed", "one", [edit("very brief", op="replace")]),
        kept("two", "# Rules\nBe kind.\nCite.\n"),
        *step(2, "one", "two", [edit("Cite.")]),
    ]
    assert {text: line.origin for text, line in lines(events, "two").items()} == {
        "# Rules": SEED,
        "Be kind.": SEED,
        "Cite.": "step_0002",
    }
    assert lines(events, "one")["Be very brief."].edit is not None


def test_a_rewrite_that_no_edit_wrote_has_a_step_and_no_edit() -> None:
    events = [*BEGUN, kept("one", "# Rules\nWholly new.\n"), *step(1, "seed", "one", [edit("Suggestion.")])]
    line = lines(events, "one")["Wholly new."]
    assert (line.origin, line.edit, line.failed_without) == ("step_0001", None, ())


def test_a_gated_change_between_steps_has_an_origin_without_a_step() -> None:
    events = [
        *BEGUN,
        kept("one", "# Rules\nBe brief.\n"),
        *step(1, "seed", "one", [edit("Be brief.")]),
        kept("slow", "# Rules\nBe brief.\nLook back.\n"),
        decided("slow_update_epoch_01", "one", "slow"),
        kept("two", "# Rules\nBe brief.\nLook back.\nCite.\n"),
        *step(2, "slow", "two", [edit("Cite.")]),
    ]
    blame, found = blame_of(events), lines(events, "two")
    assert [line.origin for line in found.values()] == [SEED, "step_0001", "slow_update_epoch_01", "step_0002"]
    assert found["Look back."].edit is None
    assert blame.origins["slow_update_epoch_01"].step is None


def test_a_change_nobody_decided_is_told_without_evidence() -> None:
    events: list[Event] = [*BEGUN, kept("end", "# Rules\nForced.\n")]
    end = RunEnded(
        stop_reason="",
        best_digest="seed",
        last_digest="end",
        best_origin=SEED,
        current_origin="x",
        best_step=0,
        claimed_val=None,
    )
    assert lines([*events, end], "end")["Forced."].origin == "x"
    assert blame_of([*events, end]).origins["x"].gate is None


def test_a_candidate_that_is_accepted_later_is_not_called_rejected() -> None:
    events: list[Event] = [
        *BEGUN,
        kept("one", "# Rules\nBe brief.\n"),
        *step(1, "seed", "one", [edit("Be brief.")], verdict="reject"),
    ]
    assert lines(events, "one")["Be brief."].origin == "step_0001"
    assert not blame_of(events).origins["step_0001"].kept
    again = [*events, *step(2, "seed", "one", [edit("Be brief.")])]
    assert lines(again, "one")["Be brief."].origin == "step_0002"
    refused_again = [*again, *step(3, "seed", "one", [edit("Be brief.")], verdict="reject")]
    assert lines(refused_again, "one")["Be brief."].origin == "step_0002"


def test_without_events_there_is_nothing_to_blame() -> None:
    assert blame_of([]).pages == {}


def test_what_a_regions_owner_wrote_between_steps_is_the_owners_and_takes_nothing_from_the_step_before() -> None:
    region = "<!-- SLOW_UPDATE_START -->\n<!-- SLOW_UPDATE_END -->\n"
    events: list[Event] = [
        *BEGUN,
        kept("one", "# Rules\nBe brief.\n"),
        *step(1, "seed", "one", [edit("Be brief.")]),
        kept("worn", f"# Rules\nBe brief.\n{region}"),
        kept("two", f"# Rules\nBe brief.\nCite.\n{region}"),
        *step(2, "worn", "two", [edit("Cite.")]),
    ]
    assert [line.origin for line in lines(events, "two").values()] == [SEED, "step_0001", "step_0002", OWNER, OWNER]
    assert blame_of(events).origins["step_0001"].gate is not None
