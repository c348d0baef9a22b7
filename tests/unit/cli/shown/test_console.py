"""What a person sees of a run: golden lines, and the live view drawn at chosen moments."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich.console import Console

from skillopt.cli.shown.console import LiveView, PlainConsole, watching
from skillopt.domain.usage import Caps, Usage
from skillopt.kernel.events import (
    AttemptFailed,
    CandidateMade,
    EpochEnded,
    Event,
    GateDecided,
    Mean,
    Measured,
    MetaSkillWritten,
    NotesTaken,
    PhaseBegan,
    PhaseEnded,
    RunBegan,
    RunEnded,
    Signal,
    SkillKept,
    SlotsChanged,
    SlowUpdated,
    StepBegan,
    StepEnded,
    UnitSettled,
    Warned,
)

CAPS = Caps(calls=100, usd=1.5)

STORY: Sequence[Event | Signal] = (
    RunBegan(
        run="amber-fox",
        config_digest="c0",
        version="0.1.0",
        epochs=2,
        steps_per_epoch=1,
        total_steps=2,
        sizes={"train": 20, "val": 10},
        models={"target": "small", "optimizer": "big"},
        gate_rule="paired",
        gate_metric="hard",
        skill_digest="seed",
    ),
    SkillKept(digest="seed", name="demo", files={"SKILL.md": "Be brief."}),
    PhaseBegan(path="baseline", verb="rollout", units=10),
    *[UnitSettled("baseline", answered=True, replayed=True)] * 9,
    UnitSettled("baseline", answered=False, replayed=False, cause="timeout"),
    PhaseEnded(
        path="baseline",
        verb="rollout",
        role="target",
        answered=9,
        failed=1,
        causes={"timeout": 1},
        usage=Usage(calls=9, input_tokens=900, output_tokens=90, nano_usd=1_000_000),
    ),
    Measured(
        label="baseline",
        split="val",
        skill_digest="seed",
        mean=Mean(hard=0.5, soft=0.625, n=9, failed=1, low=0.25, high=0.75),
        by_type={},
        rows=(),
    ),
    StepBegan(step=1, epoch=1, step_in_epoch=1, edit_budget=4, skill_digest="seed"),
    AttemptFailed("step/1/rollout", "rate_limited", "slow\x1b[31m\ndown", 2.0),
    AttemptFailed("step/1/rollout", "rate_limited", "slow down", 4.0),
    AttemptFailed("step/1/rollout", "unavailable", "cut", None),
    SlotsChanged("main", 16, "the provider said 429"),
    CandidateMade(step=1, skill_digest="new", changed=True, edits=()),
    GateDecided(
        origin="step_0001",
        rule="paired",
        metric="hard",
        verdict="accept",
        action="accept_new_best",
        reason="p = 0.02",
        candidate=0.75,
        incumbent=0.5,
        best=0.5,
        n=9,
        failed=0,
        calls=18,
        skill_digest="new",
        parent_digest="seed",
    ),
    NotesTaken(step=1, skill_digest="new", proposed=("a", "A"), added=("a",), refused=(), total=3, consolidated=None),
    StepEnded(
        step=1,
        epoch=1,
        step_in_epoch=1,
        skill_digest="new",
        best_digest="new",
        current_score=0.75,
        best_score=0.75,
        best_step=1,
        current_origin="step_0001",
        best_origin="step_0001",
    ),
    Warned(message="Two tasks have the same text."),
    SlowUpdated(
        epoch=1,
        origin="slow_update_epoch_01",
        action="force_accept",
        reasoning="",
        content="Look twice.",
        skill_digest="slow",
    ),
    MetaSkillWritten(epoch=1, action="write_meta_skill", reasoning="", content="Be exact."),
    EpochEnded(
        epoch=1,
        step=1,
        skill_digest="slow",
        best_digest="new",
        current_score=0.5,
        best_score=0.75,
        best_step=1,
        current_origin="slow_update_epoch_01",
        best_origin="step_0001",
    ),
    StepBegan(step=2, epoch=2, step_in_epoch=1, edit_budget=1, skill_digest="new"),
    AttemptFailed("step/2/rollout", "rate_limited", "slow down", 1.0),
    RunEnded(
        stop_reason="plan done",
        best_digest="new",
        last_digest="new",
        best_origin="step_0001",
        best_step=1,
        current_origin="step_0001",
        claimed_val=0.75,
    ),
)

LINES = """\
run amber-fox: 2 steps, tasks 20 train, 10 val; target small, optimizer big; gate paired
rollout: 9 answered, 1 failed (timeout 1)
baseline on val: hard 0.500 [0.250, 0.750] n=9, 1 failed, soft 0.625
step 1/2, epoch 1/2, up to 4 edits
attempt failed: rate_limited: slow down (again in 2.0 s)
attempt failed: unavailable: cut (gave up)
slots: main now 16 (the provider said 429)
gate: accept_new_best (p = 0.02); candidate 0.750, incumbent 0.500 [0.250, 0.750] n=9; 18 calls on 9 tasks
reminders: 1 new, 3 in all
step 1 done: current 0.750, best 0.750 from step_0001; used 9 calls of 100, 990 tokens, $0.0010 of $1.50
warning: Two tasks have the same text.
epoch 1: slow update: force_accept
epoch 1: meta skill: write_meta_skill
epoch 1 done: current 0.500 from slow_update_epoch_01, best 0.750 from step_0001
step 2/2, epoch 2/2, up to 1 edit
attempt failed: rate_limited: slow down (again in 1.0 s)
run finished: plan done; best skill from step_0001
"""


def drawn(view: LiveView, width: int = 100) -> str:
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(view.draw())
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def test_plain_lines() -> None:
    out = io.StringIO()
    console = PlainConsole(out, caps=CAPS)
    for fact in STORY:
        console.see(fact)
    assert out.getvalue() == LINES


def test_what_is_no_terminal_gets_plain_lines() -> None:
    out = io.StringIO()
    with watching(out, now=lambda: 0.0, environ={}, caps=CAPS) as observer:
        for fact in STORY:
            observer.see(fact)
    assert out.getvalue() == LINES


def test_the_live_view_before_anything_happened() -> None:
    assert drawn(LiveView(caps=Caps(), now=lambda: 0.0)).splitlines() == [
        "run      starting",
        "now      measuring the start",
        "current  not measured",
        "best     not measured",
        "steps    none yet",
        "calls    0.0 a second",
        "used     0 calls, 0 tokens, $0.0000",
    ]


def test_the_live_view_within_a_phase_tells_pace_and_time_left() -> None:
    moments = iter([10.0, 14.0])
    view = LiveView(caps=Caps(), now=lambda: next(moments))
    view.picture.see(STORY[0])
    view.picture.see(PhaseBegan(path="p", verb="rollout", units=100))
    for _ in range(20):
        view.picture.see(UnitSettled("p", answered=True, replayed=True))
    assert "20/100\n" in drawn(view) + "\n"
    for _ in range(8):
        view.picture.see(UnitSettled("p", answered=True, replayed=False))
    later = drawn(view)
    assert "28/100, about 0:36 left" in later
    assert "2.0 a second" in later


def test_the_live_view_at_the_end() -> None:
    view = LiveView(caps=CAPS, now=lambda: 5.0)
    for fact in STORY:
        view.picture.see(fact)
    assert drawn(view, width=140).splitlines() == [
        "run      amber-fox: target small, optimizer big; gate paired (hard)",
        "now      finished: plan done",
        "current  0.500",
        "best     0.750",
        "steps    ✓",
        "calls    0.0 a second; 4 failed attempts, last rate_limited: slow down",
        "slots    main: 16 (the provider said 429)",
        "used     9 calls of 100, 990 tokens, $0.0010 of $1.50",
        "warning  Two tasks have the same text.",
    ]


def test_the_live_view_shows_intervals_and_survives_a_phase_without_units() -> None:
    view = LiveView(caps=CAPS, now=lambda: 5.0)
    for fact in STORY[:16]:
        view.picture.see(fact)
    view.picture.see(PhaseBegan(path="empty", verb="reflect", units=0))
    lines = drawn(view).splitlines()
    assert "current  0.500 [0.250, 0.750] n=9" in lines
    assert any(line.startswith("reflect") and line.endswith("0/0") for line in lines)


def test_a_long_name_is_cut_not_wrapped() -> None:
    view = LiveView(caps=CAPS, now=lambda: 5.0)
    view.picture.see(Warned(message="long " * 100))
    assert drawn(view, width=60).splitlines()[-1].endswith("…")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_on_a_terminal_the_last_view_stays() -> None:
    out = Terminal()
    with watching(out, now=lambda: 5.0, environ={"NO_COLOR": "1"}, caps=CAPS) as observer:
        for fact in STORY:
            observer.see(fact)
    assert "finished: plan done" in out.getvalue()
    assert "\x1b[31m" not in out.getvalue()
