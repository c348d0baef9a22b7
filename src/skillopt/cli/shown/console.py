"""Shows a run while it happens: a live view on a terminal, plain lines anywhere else.
Owns the words and the layout; refuses to know the run: it only sees facts, and it never slows them down."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from skillopt.cli.output import is_terminal, strip_controls, wants_colour
from skillopt.cli.shown.picture import Picture
from skillopt.domain.usage import Caps
from skillopt.kernel.events import (
    AgentsWorked,
    AttemptFailed,
    EpochEnded,
    Event,
    GateDecided,
    Mean,
    Measured,
    MetaSkillWritten,
    NotesTaken,
    PhaseEnded,
    RunBegan,
    RunEnded,
    Signal,
    SlotsChanged,
    SlowUpdated,
    StepBegan,
    StepEnded,
    UnitSettled,
    Warned,
)

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from skillopt.kernel.ports import Observer

_REDRAWS_PER_SECOND = 8
_RATE_WINDOW = 10.0
_HISTORY_SHOWN = 60
_GLYPH_STYLES: Mapping[str, str] = {"✓": "green", "✗": "red", "?": "yellow", "·": "dim"}


@contextmanager
def watching(
    stream: TextIO, *, now: Callable[[], float], environ: Mapping[str, str], caps: Caps | None = None
) -> Iterator[Observer]:
    """Give the observer that suits the stream: live on a terminal that can redraw, lines otherwise."""
    limits = Caps() if caps is None else caps
    if not is_terminal(stream) or environ.get("TERM") == "dumb":
        yield PlainConsole(stream, caps=limits)
        return
    from rich.console import Console
    from rich.live import Live

    view = LiveView(caps=limits, now=now)
    console = Console(file=stream, no_color=not wants_colour(stream, environ), highlight=False)
    with Live(
        get_renderable=view.draw,
        console=console,
        refresh_per_second=_REDRAWS_PER_SECOND,
        redirect_stdout=False,
        redirect_stderr=False,
    ):
        yield view.picture


class PlainConsole:
    """Writes one line for each fact a person would want to find in a log."""

    def __init__(self, stream: TextIO, *, caps: Caps) -> None:
        self._stream = stream
        self._caps = caps
        self._picture = Picture()
        self._said: frozenset[str] = frozenset()
        self._lines: Mapping[type, Callable[[Any], str | None]] = {
            RunBegan: _run_began,
            StepBegan: self._step_began,
            PhaseEnded: _phase_ended,
            AgentsWorked: _agents_worked,
            Measured: _measured,
            GateDecided: self._gate_decided,
            StepEnded: self._step_ended,
            NotesTaken: _notes_taken,
            SlowUpdated: lambda fact: f"epoch {fact.epoch}: slow update: {fact.action}",
            MetaSkillWritten: lambda fact: f"epoch {fact.epoch}: meta skill: {fact.action}",
            EpochEnded: self._epoch_ended,
            Warned: lambda fact: f"warning: {fact.message}",
            RunEnded: _run_ended,
            SlotsChanged: lambda fact: f"slots: {fact.account} now {fact.slots} ({fact.reason})",
            AttemptFailed: self._attempt_failed,
        }

    def see(self, fact: Event | Signal) -> None:
        """Count the fact and write its line, if it has one."""
        self._picture.see(fact)
        if type(fact) is UnitSettled:
            return
        compose = self._lines.get(type(fact))
        line = None if compose is None else compose(fact)
        if line is not None:
            self._stream.write(f"{strip_controls(' '.join(line.split()))}\n")
            self._stream.flush()

    def _step_began(self, fact: StepBegan) -> str:
        self._said = frozenset()
        budget = "" if fact.edit_budget is None else f", up to {_counted(fact.edit_budget, 'edit')}"
        return f"{_where(self._picture)}{budget}"

    def _step_ended(self, fact: StepEnded) -> str:
        return (
            f"step {fact.step} done: current {_standing(self._picture, best=False)}, "
            f"best {_standing(self._picture, best=True)} from {fact.best_origin}; "
            f"used {spent(self._picture, self._caps)}"
        )

    def _epoch_ended(self, fact: EpochEnded) -> str:
        current, best = (_standing(self._picture, best=which) for which in (False, True))
        origins = (fact.current_origin, fact.best_origin)
        return f"epoch {fact.epoch} done: current {current} from {origins[0]}, best {best} from {origins[1]}"

    def _gate_decided(self, fact: GateDecided) -> str:
        candidate = _scored(fact.candidate, self._picture.mean_of(fact.skill_digest))
        incumbent = _scored(fact.incumbent, self._picture.mean_of(fact.parent_digest))
        asked = f"{_counted(fact.calls, 'call')} on {_counted(fact.n, 'task')}"
        return f"gate: {fact.action} ({fact.reason}); candidate {candidate}, incumbent {incumbent}; {asked}"

    def _attempt_failed(self, fact: AttemptFailed) -> str | None:
        """Say each kind of failure once a step: a provider that is down would fill the log."""
        if fact.kind in self._said:
            return None
        self._said |= {fact.kind}
        then = "gave up" if fact.wait is None else f"again in {fact.wait:.1f} s"
        return f"attempt failed: {fact.kind}: {fact.message} ({then})"


class LiveView:
    """Draws the picture of a run; called by rich's own thread, never by the run."""

    def __init__(self, *, caps: Caps, now: Callable[[], float]) -> None:
        self.picture = Picture()
        self._caps = caps
        self._now = now
        self._samples: deque[tuple[float, int]] = deque()
        self._phase_seen: tuple[object, float, int] = (None, 0.0, 0)

    def draw(self) -> RenderableType:
        """Return the view as it is now."""
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        picture, now = self.picture, self._now()
        rows = Table.grid(padding=(0, 2))
        rows.add_row(Text("run", "dim"), _plain(_title(picture)))
        rows.add_row(Text("now", "dim"), _plain(_where(picture)))
        phase = picture.phase
        if phase is not None:
            bar = Table.grid(padding=(0, 1))
            count = f"{phase.settled}/{phase.units}{self._remaining(now)}"
            bar.add_row(ProgressBar(total=max(phase.units, 1), completed=phase.settled, width=40), _plain(count))
            rows.add_row(Text(phase.verb, "dim"), bar)
        rows.add_row(Text("current", "dim"), _plain(_standing(picture, best=False)))
        rows.add_row(Text("best", "dim"), _plain(_standing(picture, best=True)))
        glyphs = [(glyph, _GLYPH_STYLES[glyph]) for glyph in picture.history[-_HISTORY_SHOWN:]]
        rows.add_row(Text("steps", "dim"), Text.assemble(*glyphs) if glyphs else Text("none yet"))
        rows.add_row(Text("calls", "dim"), _plain(f"{self._rate(now):.1f} a second{_troubles(picture)}"))
        for change in picture.slots.values():
            rows.add_row(Text("slots", "dim"), _plain(f"{change.account}: {change.slots} ({change.reason})"))
        rows.add_row(Text("used", "dim"), _plain(spent(picture, self._caps)))
        if picture.warning is not None:
            rows.add_row(Text("warning", "yellow"), _plain(picture.warning))
        return rows

    def _rate(self, now: float) -> float:
        """Return answered calls a second over the last seconds."""
        self._samples.append((now, self.picture.calls))
        while now - self._samples[0][0] > _RATE_WINDOW:
            self._samples.popleft()
        then, calls = self._samples[0]
        return (self.picture.calls - calls) / (now - then) if now > then else 0.0

    def _remaining(self, now: float) -> str:
        """Say how long this phase still takes at the pace since it was first drawn."""
        phase = self.picture.phase
        if phase is None:
            return ""
        if self._phase_seen[0] is not phase:
            self._phase_seen = (phase, now, phase.settled)
        _, since, settled = self._phase_seen
        done = phase.settled - settled
        if done <= 0 or now <= since:
            return ""
        seconds = round((phase.units - phase.settled) * (now - since) / done)
        return f", about {seconds // 60}:{seconds % 60:02d} left"


def spent(picture: Picture, caps: Caps) -> str:
    """Return what was used against the caps, for people."""
    usage = picture.usage
    parts = [
        f"{_counted(usage.calls, 'call')}{_of(caps.calls)}",
        f"{_counted(usage.tokens, 'token')}{_of(caps.tokens)}",
        f"${usage.usd:.4f}{'' if caps.usd is None else f' of ${caps.usd:.2f}'}",
    ]
    return ", ".join(parts)


def _of(cap: int | None) -> str:
    return "" if cap is None else f" of {cap:,}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _score(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.3f}"


def _scored(value: float | None, mean: Mean | None) -> str:
    """Say a score with its n, and with its interval, which is that of the hard score."""
    if value is None or mean is None:
        return _score(value)
    known = value == mean.hard and mean.low is not None and mean.high is not None
    return f"{value:.3f}{f' [{mean.low:.3f}, {mean.high:.3f}]' if known else ''} n={mean.n}"


def _standing(picture: Picture, *, best: bool) -> str:
    return _scored(picture.scores[best], picture.mean(best=best))


def _plain(text: str) -> Text:
    from rich.text import Text

    return Text(strip_controls(" ".join(text.split())), overflow="ellipsis", no_wrap=True)


def _title(picture: Picture) -> str:
    began = picture.began
    if began is None:
        return "starting"
    models = ", ".join(f"{role} {model}" for role, model in began.models.items())
    return f"{began.run}: {models}; gate {began.gate_rule} ({began.gate_metric})"


def _where(picture: Picture) -> str:
    began, step = picture.began, picture.step
    if picture.ended is not None:
        return f"finished: {picture.ended.stop_reason}"
    if began is None or step is None:
        return "measuring the start"
    return f"step {step.step}/{began.total_steps}, epoch {step.epoch}/{began.epochs}"


def _troubles(picture: Picture) -> str:
    failed = picture.last_failure
    if failed is None:
        return ""
    return f"; {_counted(picture.failures, 'failed attempt')}, last {failed.kind}: {failed.message}"


def _run_began(fact: RunBegan) -> str:
    sizes = ", ".join(f"{size} {split}" for split, size in fact.sizes.items())
    models = ", ".join(f"{role} {model}" for role, model in fact.models.items())
    gate = fact.gate_rule
    if fact.gate_smallest_p is not None:
        gate += f", which can reach p = {fact.gate_smallest_p:.1g} on this val"
    return f"run {fact.run}: {_counted(fact.total_steps, 'step')}, tasks {sizes}; {models}; gate {gate}"


def _phase_ended(fact: PhaseEnded) -> str | None:
    """Mention a phase only when units of it failed."""
    if not fact.failed:
        return None
    causes = ", ".join(f"{cause} {count}" for cause, count in sorted(fact.causes.items()))
    return f"{fact.verb}: {fact.answered} answered, {fact.failed} failed ({causes})"


def _measured(fact: Measured) -> str:
    mean = fact.mean
    failed = f", {mean.failed} failed" if mean.failed else ""
    return f"{fact.label} on {fact.split}: hard {_scored(mean.hard, mean)}{failed}, soft {_score(mean.soft)}"


def _notes_taken(fact: NotesTaken) -> str:
    return f"reminders: {len(fact.added)} new, {fact.total} in all"


def _agents_worked(fact: AgentsWorked) -> str | None:
    known = fact.conduct.opened + fact.conduct.unopened
    return f"{fact.path}: agents read the skill in {fact.conduct.opened} of {known} runs" if known else None


def _run_ended(fact: RunEnded) -> str:
    return f"run finished: {fact.stop_reason}; best skill from {fact.best_origin}"
