"""What holds for every run, whatever happens to it. Each invariant is checked over many seeds, in virtual time:

1   A crash after any record of the journal, once or twice, and the same command again: the same events and bytes.
2   Nothing is paid for twice, except what was in flight at the kill.
3   The ledger (used and overhead) is what the scripted models counted: calls, tokens and dollars.
4   The same bytes at 1, 2, 7 and 64 workers, with and without faults.
5   A rejected candidate leaves no trace in the skill.
6   Protected regions change only through their owner.
7   No cap is ever overshot; a stopped run goes on, when its cap is raised, as if it had never been stopped.
8   No secret that is planted anywhere reaches the journal, an event, a signal or an error.
9   A failed rollout changes no score, and is never shown to the optimizer.
10  Any order of faults ends in a result, a clean stop or a named error: never a hang, never another exception.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec
import pytest

from skillopt.domain.chat import ChatRequest, ModelIdentity, Reply
from skillopt.domain.errors import (
    BudgetReachedError,
    InternalError,
    OptimizerError,
    ProviderError,
    SkilloptError,
    StoreError,
    UnavailableError,
)
from skillopt.domain.scrub import Scrubber
from skillopt.domain.seeds import dice
from skillopt.domain.skill import Skill
from skillopt.domain.tasks import Task, TaskSet
from skillopt.domain.usage import NOTHING, Usage
from skillopt.environments.dataset import Dataset, DatasetSettings
from skillopt.kernel.events import Event, GateDecided, Measured, Signal, SkillKept
from skillopt.kernel.limits.terms import LimitSettings
from skillopt.kernel.memory import MemoryShelf
from skillopt.kernel.payment.retry import RetrySettings
from skillopt.kernel.ports import Chat, Environment
from skillopt.kernel.run import Run
from skillopt.kernel.work import Asker
from skillopt.phases.attempts import Prompted
from skillopt.phases.gate import GateSettings
from skillopt.phases.rollout import Rollouts
from skillopt.testing.brains import BRAINS
from skillopt.testing.conversation import Brain, BrainReply, Conversation
from skillopt.testing.faults import FaultKind, FaultPlan
from skillopt.testing.secrets import Planted, planted
from skillopt.testing.worlds import RULES
from tests.simulation.house import House, Lived, appends, house, live, live_at_the_same_time

Width = int | Literal["auto"]
WIDTHS: tuple[Width, ...] = (1, 2, 7, 64, "auto")


def chunks(count: int, size: int = 10) -> Iterator[range]:
    """Cut the seeds 1 to `count` into ranges, one for each test."""
    for first in range(1, count + 1, size):
        yield range(first, min(first + size, count + 1))


def seeds(count: int, size: int = 10) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("seeds", list(chunks(count, size)), ids=lambda seeds: f"{seeds[0]}-{seeds[-1]}")


def small(seed: int) -> House:
    return house(seed, train_size=8, val=4, test=3, epochs=1)


def some_faults(seed: int, rate: float = 0.3) -> FaultPlan:
    return FaultPlan.random(seed, rate)


def lived_through(home: House, shelf: MemoryShelf, kills: Sequence[int]) -> list[Lived]:
    """Run until each kill, and then to the end."""
    return [*(live(home, shelf, kill_at=kill) for kill in kills), live(home, shelf)]


def check_ledger(sessions: Sequence[Lived], where: str) -> None:
    """Compare what the last session says of the whole run with what the models counted in all of them."""
    last = sessions[-1]
    spent, overhead, used = last.spent, last.summary.usage.overhead, last.view.usage
    received = sum(each.calls for each in sessions)
    served = sum(each.served for each in sessions)
    told = sum(used.values(), NOTHING)
    assert told.calls + overhead.speculative <= served <= spent.attempts, where
    assert received <= spent.attempts, where
    assert spent.attempts == spent.answered + spent.failed + spent.lost, where
    if last.error is None:
        assert spent.charged == told + spent.unused_usage + spent.failed_usage + spent.lost_usage, where
    assert last.summary.usage.total.calls == told.calls, where


# 1, 2, 3 ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seed", "faults", "width"),
    [(1, FaultPlan(), 7), (6, FaultPlan(), 64), (9, some_faults(9), 7), (14, some_faults(14), 1)],
)
def test_a_crash_after_every_record_changes_nothing(seed: int, faults: FaultPlan, width: int) -> None:
    home = small(seed).faulty(faults).at_once(width)
    whole = live(home)
    assert whole.error is None
    for kill in range(1, appends(home) + 1):
        shelf = MemoryShelf()
        killed, resumed = lived_through(home, shelf, [kill])
        where = f"seed {seed}, killed after record {kill}"
        assert isinstance(killed.error, StoreError), where
        assert resumed.error is None, where
        assert resumed.events == whole.events, where
        assert resumed.lasting == whole.lasting, where
        assert killed.served + resumed.served <= whole.served + killed.in_flight_at_kill, where
        check_ledger((killed, resumed), where)


@seeds(120)
def test_one_or_two_crashes_anywhere_change_nothing(seeds: range) -> None:
    for seed in seeds:
        draw = dice("crash", seed)
        home = house(seed).faulty(some_faults(seed) if seed % 2 else FaultPlan())
        home = home.at_once(draw.choice((1, 7, 64)))
        whole = live(home)
        last = appends(home)
        kills = [draw.randrange(1, last + 1) for _ in range(draw.choice((1, 2)))]
        sessions = lived_through(home, MemoryShelf(), kills)
        where = f"seed {seed}, killed after records {kills}"
        assert sessions[-1].error is None, where
        assert sessions[-1].events == whole.events, where
        assert sessions[-1].lasting == whole.lasting, where
        served, in_flight = (sum(each.served for each in sessions), sum(each.in_flight_at_kill for each in sessions))
        assert served <= whole.served + in_flight, where
        check_ledger(sessions, where)


@seeds(40)
def test_the_ledger_is_what_the_models_counted(seeds: range) -> None:
    for seed in seeds:
        lived = live(house(seed))
        overhead = lived.summary.usage.overhead
        assert lived.served == lived.calls == lived.summary.usage.total.calls == overhead.attempts, f"seed {seed}"
        assert sum(lived.view.usage.values(), NOTHING) == lived.used == lived.spent.charged, f"seed {seed}"
        assert lived.view.usage["target"] == lived.target.used, f"seed {seed}"
        assert sum(lived.view.stages.values(), NOTHING) == lived.used, f"seed {seed}"


@seeds(40)
def test_the_ledger_accounts_for_every_fault(seeds: range) -> None:
    for seed in seeds:
        lived = live(house(seed).faulty(some_faults(seed)))
        overhead = lived.summary.usage.overhead
        assert lived.faults, f"seed {seed} had no fault"
        assert overhead.attempts == lived.calls, f"seed {seed}"
        assert (overhead.failed, overhead.lost) == (lived.faults, 0), f"seed {seed}"
        assert lived.summary.usage.total.calls + overhead.speculative == lived.served, f"seed {seed}"
        check_ledger([lived], f"seed {seed}")


# 4 ------------------------------------------------------------------------------------------------------------------


@seeds(40)
def test_the_number_of_workers_and_transient_faults_change_nothing(seeds: range) -> None:
    for seed in seeds:
        whole = live(house(seed))
        assert whole.error is None, f"seed {seed}"
        for width, faults in itertools.product(WIDTHS, (FaultPlan(), some_faults(seed))):
            again = live(house(seed).faulty(faults).at_once(width))
            assert again.events == whole.events, f"seed {seed}, {width} workers, faults {faults.rate}"
            assert again.lasting == whole.lasting, f"seed {seed}, {width} workers, faults {faults.rate}"


# 5 ------------------------------------------------------------------------------------------------------------------


@seeds(60)
def test_a_rejected_candidate_leaves_no_trace(seeds: range) -> None:
    rejects = 0
    for seed in seeds:
        lived = live(house(seed, epochs=3))
        accepted = {lived.events_of(SkillKept)[0].digest}
        for step in lived.view.finished_steps:
            assert step.gate is not None
            assert step.candidate is not None
            assert step.ended is not None
            if step.gate.verdict == "accept":
                accepted.add(step.candidate.skill_digest)
                assert step.ended.skill_digest == step.candidate.skill_digest, f"seed {seed}"
            else:
                rejects += 1
                assert step.ended.skill_digest == step.began.skill_digest, f"seed {seed}, step {step.began.step}"
            assert {step.ended.best_digest, step.began.skill_digest} <= accepted, f"seed {seed}"
    assert rejects > 10


def harmful_only(conversation: Conversation) -> BrainReply:
    """Propose the rule that spoils answers, every time."""
    assert RULES.harmful is not None
    edit = {"op": "append", "content": RULES.harmful.sentence, "target": ""}
    return BrainReply(text=json.dumps({"patch": {"reasoning": "Quicker.", "edits": [edit]}}))


@seeds(30)
def test_a_harmful_rule_never_gets_in(seeds: range) -> None:
    for seed in seeds:
        home = house(seed).but(optimizer_brain=harmful_only)
        lived = live(home)
        assert lived.best == home.plan.seed_skill.text, f"seed {seed}"
        verdicts = {gate.verdict for gate in lived.events_of(GateDecided)}
        assert verdicts == {"reject"}, f"seed {seed}"


# 6 ------------------------------------------------------------------------------------------------------------------

_GUARDED = """---
name: house-style
description: How we answer.
---
# House style

Answer in the answer tag.

<!-- SLOW_UPDATE_START -->
Slow words that stay.
<!-- SLOW_UPDATE_END -->

Between the regions.

<!-- APPENDIX_START -->
- A note that stays.
<!-- APPENDIX_END -->

<!-- skillopt:learned START -->
<!-- skillopt:learned END -->
"""
_TARGETS = (
    *_GUARDED.split("\n"),
    "",
    _GUARDED,
    "<!-- SLOW_UPDATE_START -->\nSlow words that stay.\n<!-- SLOW_UPDATE_END -->",
    "Answer in the answer tag.\n\n<!-- SLOW_UPDATE_START -->",
    "<!-- SLOW_UPDATE_END -->\n\nBetween the regions.\n\n<!-- APPENDIX_START -->",
    "stays.\n<!--",
    "\n\n<!-- APPENDIX_START -->\n",
    "-->",
    "<!--",
    "---\nname",
    "stays",
)
_CONTENTS = (
    "",
    "An honest sentence.",
    "<!-- SLOW_UPDATE_START -->\nMine now.\n<!-- SLOW_UPDATE_END -->",
    "<!-- APPENDIX_END -->",
    "<!-- slow_update_end -->",
    "<!-- SLOW_UPDATE_<!-- APPENDIX_END -->END -->",
    "---\nname: other\n---",
    "<!-",
    "->",
    "SLOW_UPDATE_END -->",
    "\r\n",
)


def attacker(conversation: Conversation) -> BrainReply:
    """Propose edits that go for markers, regions and front matter, by every operation."""
    draw = dice("attack", conversation.digest)
    ops = ("append", "insert_after", "replace", "delete", "add")
    edits = [
        {"op": draw.choice(ops), "target": draw.choice(_TARGETS), "content": draw.choice(_CONTENTS)} for _ in range(12)
    ]
    return BrainReply(text=json.dumps({"patch": {"reasoning": "Mine.", "edits": edits}}))


def owned(skill: Skill) -> tuple[object, ...]:
    """Return all that has another owner than the optimizer."""
    return (skill.front_matter, *(block.raw(skill.text) for block in skill.blocks))


@seeds(60)
def test_regions_and_front_matter_withstand_every_edit(seeds: range) -> None:
    seed_skill = Skill.from_text(_GUARDED)
    changed = 0
    for seed in seeds:
        home = house(seed).but(optimizer_brain=attacker, gate=GateSettings(rule="force"))
        settings = msgspec.structs.replace(home.plan.optimizer, schedule="unlimited")
        plan = msgspec.structs.replace(home.plan, seed_skill=seed_skill, optimizer=settings)
        lived = live(home.but(plan=plan))
        assert lived.error is None, f"seed {seed}"
        for kept in lived.events_of(SkillKept):
            assert owned(Skill.from_files(kept.files)) == owned(seed_skill), f"seed {seed}"
        changed += len(lived.events_of(SkillKept)) - 1
    assert changed > 10


# 7 ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [3, 9, 21])
def test_every_cap_on_calls_holds_under_faults_and_crashes(seed: int) -> None:
    home = small(seed).faulty(some_faults(seed)).at_once(64)
    whole = live(home)
    for cap in range(whole.calls + 1):
        shelf = MemoryShelf()
        capped = home.at_once(64, calls=cap)
        kill = dice("kill", seed, cap).randrange(1, 40)
        sessions = [live(capped, shelf, kill_at=kill), live(capped, shelf), live(capped, shelf)]
        where = f"seed {seed}, cap of {cap} calls, killed after record {kill}"
        assert sum(each.calls for each in sessions) <= cap, where
        assert sessions[-1].calls == 0 or sessions[-1].error is None, where
        assert sessions[-1].error is None or isinstance(sessions[-1].error, BudgetReachedError), where
        raised = live(home, shelf)
        assert raised.error is None, where
        assert raised.lasting == whole.lasting, where


@pytest.mark.parametrize("seed", [3, 9, 21, 30])
def test_without_faults_a_cap_on_calls_stops_at_the_same_event_for_any_number_of_workers(seed: int) -> None:
    home = small(seed)
    total = live(home).calls
    for cap in range(total + 1):
        stopped = [live(home.at_once(width, calls=cap)) for width in WIDTHS]
        assert {each.calls for each in stopped} == {cap}, f"seed {seed}, cap {cap}"
        assert all(each.events == stopped[0].events for each in stopped), f"seed {seed}, cap {cap}"
        assert all(each.lasting == stopped[0].lasting for each in stopped), f"seed {seed}, cap {cap}"
        error = stopped[0].error
        assert (error is None) == (cap == total), f"seed {seed}, cap {cap}"
        if error is not None:
            assert isinstance(error, BudgetReachedError)
            assert (error.cap, error.exit_code) == ("calls", 4)


@seeds(40)
def test_caps_on_tokens_and_dollars_hold_under_faults_and_crashes(seeds: range) -> None:
    for seed in seeds:
        draw = dice("cap", seed)
        home = house(seed).faulty(some_faults(seed)).at_once(64)
        whole = live(home)
        share = draw.random() * 1.3
        for cap in ({"tokens": int(whole.used.tokens * share)}, {"usd": whole.used.usd * share}):
            shelf = MemoryShelf()
            capped = home.at_once(64, **cap)
            kills = [draw.randrange(1, appends(home)) for _ in range(2)]
            sessions = lived_through(capped, shelf, kills)
            where = f"seed {seed}, cap {cap}, killed after records {kills}"
            billed: Usage = sum((each.used for each in sessions), NOTHING)
            if "tokens" in cap:
                assert max(billed.tokens, sessions[-1].spent.charged.tokens) <= cap["tokens"], where
            else:
                assert max(billed.usd, sessions[-1].spent.charged.usd) <= cap["usd"] + 1e-12, where
            error = sessions[-1].error
            assert error is None or (isinstance(error, BudgetReachedError) and error.cap in cap), where
            raised = live(home, shelf)
            assert raised.lasting == whole.lasting, where


@seeds(60)
def test_a_cap_on_seconds_holds_whatever_the_run_waits_for(seeds: range) -> None:
    kinds = (FaultKind.RATE_LIMIT, FaultKind.HANG, FaultKind.SLOW, FaultKind.CUT)
    for seed in seeds:
        draw = dice("seconds", seed)
        faults = FaultPlan(
            rate=draw.random() / 2,
            kinds=kinds,
            seed=seed,
            max_repeats=2,
            retry_after=draw.choice((1.0, 40.0)),
            slow=9.0,
        )
        home = house(seed).faulty(faults).at_once(draw.choice((2, 64, "auto")))
        whole = live(home)
        cap = draw.uniform(0.0, 1.1 * whole.summary.wall_seconds)
        capped = home.at_once(home.limits.concurrency, seconds=cap)
        shelf = MemoryShelf()
        sessions = lived_through(capped, shelf, [draw.randrange(1, appends(home))])
        where = f"seed {seed}, cap of {cap} seconds"
        assert sum(each.summary.wall_seconds for each in sessions) <= cap + 1e-6, where
        error = sessions[-1].error
        assert error is None or (isinstance(error, BudgetReachedError) and error.cap == "seconds"), where
        assert live(home, shelf).lasting == whole.lasting, where


# 8 ------------------------------------------------------------------------------------------------------------------


class Leaky:
    """A chat whose provider repeats secrets in its errors."""

    def __init__(self, chat: Chat, secret: Planted) -> None:
        self._chat = chat
        self._secret = secret

    @property
    def identity(self) -> ModelIdentity:
        """Who answers."""
        return self._chat.identity

    @property
    def timeout(self) -> float:
        """The most seconds a request may take."""
        return self._chat.timeout

    def worst(self, request: ChatRequest) -> Usage:
        """Return the most that one attempt can cost."""
        return self._chat.worst(request)

    async def send(self, request: ChatRequest) -> Reply:
        """Ask once."""
        try:
            return await self._chat.send(request)
        except ProviderError as error:
            raise type(error)(
                f"{error.message} {self._secret.line}",
                hint=self._secret.line,
                status=error.status,
                retry_after=error.retry_after,
            ) from None

    async def close(self) -> None:
        """Let go of connections."""
        await self._chat.close()


class Listener:
    """Writes down everything it is shown."""

    def __init__(self) -> None:
        self.heard: list[Event | Signal] = []

    def see(self, fact: Event | Signal) -> None:
        """Take note of a fact."""
        self.heard.append(fact)


def with_tasks(home: House, split: TaskSet) -> House:
    """Return the house with other tasks."""
    environment = Dataset(DatasetSettings(path="tasks"), split)
    return home.but(environment=environment, plan=msgspec.structs.replace(home.plan, tasks=split))


def with_secrets(home: House, secrets: Sequence[Planted]) -> House:
    """Return the house with secrets in its tasks, its replies, its edits and its providers' errors."""
    in_task, in_answer, in_edit, in_error = secrets

    def told(task: Task) -> Task:
        return msgspec.structs.replace(task, input=f"{task.input}\n{in_task.line}", context=in_task.line)

    def target(conversation: Conversation) -> BrainReply:
        said = BRAINS["rules"](conversation)
        return BrainReply(text=f"{in_answer.line}\n{conversation.asked}\n{said.text}")

    def optimizer(conversation: Conversation) -> BrainReply:
        said = json.loads(BRAINS["rules"](conversation).text)
        said["patch"]["reasoning"] = f"They said: {in_edit.line} {conversation.asked}"
        said["patch"]["edits"].append({"op": "append", "content": in_edit.line, "target": ""})
        return BrainReply(text=json.dumps(said))

    tasks = home.environment.tasks
    split = TaskSet.checked(
        train=[told(task) for task in tasks.train],
        val=[told(task) for task in tasks.val],
        test=[told(task) for task in tasks.test],
    )
    return with_tasks(home, split).but(
        target_brain=target,
        optimizer_brain=optimizer,
        wire=lambda chat: Leaky(chat, in_error),
        scrub=Scrubber().text,
    )


def recorded(shelf: MemoryShelf) -> str:
    """Return everything that is on the shelf."""
    return msgspec.json.encode((list(shelf.shelved.values()), list(shelf.stored.values()))).decode()


@seeds(40, 5)
def test_no_secret_is_recorded_or_told(seeds: range) -> None:
    for seed in seeds:
        first = dice("which", seed).randrange(100)
        secrets = planted(seed, 200)[first : first + 4]
        fatal = FaultPlan(at=(), rate=0.3, seed=seed, kinds=(FaultKind.AUTH, FaultKind.CUT, FaultKind.CONTEXT))
        for faults in (some_faults(seed), fatal):
            home = with_secrets(small(seed).faulty(faults), secrets)
            shelf, listener = MemoryShelf(), Listener()
            lived = live(home, shelf, observers=[listener])
            places = {
                "journal": recorded(shelf),
                "signals": msgspec.json.encode(listener.heard).decode(),
                "views": msgspec.json.encode((lived.view, lived.records, lived.summary)).decode(),
                "error": f"{lived.error} {lived.error!r} {getattr(lived.error, 'hint', '')}",
            }
            for place, text in places.items():
                found = [one for one in secrets if one.value in text or json.dumps(one.value)[1:-1] in text]
                assert not found, f"seed {seed}: {found} in {place}"


# 9 ------------------------------------------------------------------------------------------------------------------


def failing_for(task_ids: Sequence[str], tasks: Sequence[Task]) -> Brain:
    """Return a brain whose provider is down for these tasks, and only for them."""
    inputs = {str(task.input) for task in tasks if task.id in task_ids}

    def reply(conversation: Conversation) -> BrainReply:
        if conversation.asked in inputs:
            return BrainReply(fault=FaultKind.UNAVAILABLE)
        return BRAINS["rules"](conversation)

    return reply


def without(home: House, task_ids: Sequence[str]) -> House:
    """Return the house without these val tasks."""
    tasks = home.plan.tasks
    split = TaskSet.checked(
        train=tasks.train, val=[task for task in tasks.val if task.id not in task_ids], test=tasks.test
    )
    return with_tasks(home, split)


@seeds(40)
def test_a_failing_val_task_weighs_nothing_in_the_gate(seeds: range) -> None:
    for seed in seeds:
        home = house(seed, val=11)
        tasks = home.plan.tasks
        ill = [dice("ill", seed).choice(tasks.val).id]
        failing = live(home.but(target_brain=failing_for(ill, tasks.val)))
        spared = live(without(home, ill))
        assert failing.error is None, f"seed {seed}"
        for with_it, without_it in zip(failing.events_of(Measured), spared.events_of(Measured), strict=True):
            assert with_it.mean.hard == without_it.mean.hard, f"seed {seed}, {with_it.label}"
            assert with_it.mean.n == without_it.mean.n, f"seed {seed}, {with_it.label}"
        decided = [
            [msgspec.structs.replace(gate, calls=0, failed=0, reason="") for gate in each.events_of(GateDecided)]
            for each in (failing, spared)
        ]
        assert decided[0] == decided[1], f"seed {seed}"
        assert failing.best == spared.best, f"seed {seed}"


@seeds(40)
def test_a_failing_train_task_is_neither_scored_nor_shown(seeds: range) -> None:
    for seed in seeds:
        home = house(seed)
        tasks = home.plan.tasks
        ill = [task.id for task in dice("ill", seed).sample(tasks.train, 4)]
        shown: list[str] = []

        def listening(conversation: Conversation, shown: list[str] = shown) -> BrainReply:
            shown.append(conversation.everything)
            return BRAINS["rules"](conversation)

        lived = live(home.but(target_brain=failing_for(ill, tasks.train), optimizer_brain=listening))
        assert lived.error is None, f"seed {seed}"
        for step in lived.view.finished_steps:
            for batch in step.batches:
                scores = {row.task_id: row.hard for row in batch.rows}
                known = [hard for hard in scores.values() if hard is not None]
                assert {id_ for id_, hard in scores.items() if hard is None} == set(ill) & set(scores), f"seed {seed}"
                assert batch.mean.failed == len(scores) - len(known), f"seed {seed}"
                assert batch.mean.hard == (sum(known) / len(known) if known else None), f"seed {seed}"
        for task in tasks.train:
            if task.id in ill:
                assert str(task.input) not in "\n".join(shown), f"seed {seed}: {task.id} was shown"


@pytest.mark.parametrize(
    "kind", [kind for kind in FaultKind if kind not in {FaultKind.SLOW, FaultKind.QUOTA, FaultKind.QUOTA_429}]
)
def test_a_target_that_never_answers_is_no_score_but_an_error(kind: FaultKind) -> None:
    lived = live(house().but(target_faults=FaultPlan.always(kind), retry=RetrySettings(attempts=2)))
    assert isinstance(lived.error, SkilloptError)
    assert lived.error.exit_code == 3
    assert [each.mean.hard for each in lived.events_of(Measured)] in ([], [None])
    assert lived.summary.scores.baseline.val is None or lived.summary.scores.baseline.val.hard is None


@pytest.mark.parametrize("kind", [FaultKind.QUOTA, FaultKind.QUOTA_429])
def test_a_used_up_quota_stops_the_run_at_once(kind: FaultKind) -> None:
    lived = live(house().but(target_faults=FaultPlan.always(kind)).at_once(2))
    assert isinstance(lived.error, SkilloptError)
    assert lived.error.exit_code == 7
    assert lived.calls <= 2


# 10 -----------------------------------------------------------------------------------------------------------------


def any_faults(seed: int, name: str) -> FaultPlan:
    """Return a plan that may do anything."""
    draw = dice("any", seed, name)
    kinds = draw.sample(list(FaultKind), draw.randrange(1, len(FaultKind) + 1))
    if draw.random() < 0.3:
        return FaultPlan.at_calls({draw.randrange(1, 90): draw.choice(kinds) for _ in range(draw.randrange(1, 20))})
    return FaultPlan(
        rate=draw.choice((0.02, 0.1, 0.3, 0.7, 1.0)),
        kinds=tuple(kinds),
        seed=seed,
        max_repeats=draw.choice((None, 1, 3, 12)),
        retry_after=draw.choice((0.0, 1.0, 30.0, 900.0)),
        slow=draw.choice((0.5, 30.0, 90.0)),
    )


@seeds(200, 20)
def test_any_faults_end_in_a_result_a_stop_or_a_named_error(seeds: range) -> None:
    for seed in seeds:
        draw = dice("ends", seed)
        home = house(seed).but(target_faults=any_faults(seed, "target"), optimizer_faults=any_faults(seed, "optimizer"))
        caps = draw.choice(({}, {}, {"calls": draw.randrange(200)}, {"seconds": draw.uniform(0, 900)}))
        home = home.at_once(draw.choice(WIDTHS), **caps)
        lived = live(home)
        assert lived.error is None or isinstance(lived.error, SkilloptError), f"seed {seed}: {lived.error!r}"
        assert not isinstance(lived.error, InternalError), f"seed {seed}: {lived.error!r}"
        assert lived.error is None or lived.error.exit_code in {3, 4, 7}, f"seed {seed}: {lived.error!r}"
        check_ledger([lived], f"seed {seed}")


@pytest.mark.parametrize("width", WIDTHS)
def test_a_refused_login_stops_the_asking(width: Width) -> None:
    home = house(val=100).but(target_faults=FaultPlan.always(FaultKind.AUTH)).at_once(width)
    lived = live(home)
    assert isinstance(lived.error, ProviderError)
    assert lived.calls <= (4 if width == "auto" else int(width)), "only what was under way may have been asked"


# and also -----------------------------------------------------------------------------------------------------------


def test_an_optimizer_that_never_says_anything_useful_ends_the_run_with_its_name() -> None:
    lived = live(house().but(optimizer_brain="stubborn"))
    assert isinstance(lived.error, OptimizerError)
    assert lived.error.exit_code == 3
    assert len(lived.view.finished_steps) == 1
    assert lived.view.ended is None


@pytest.mark.parametrize(
    ("kind", "error"), [(FaultKind.INTERNAL, UnavailableError), (FaultKind.CONTEXT, OptimizerError)]
)
def test_an_optimizer_that_never_answers_ends_the_run_with_its_name(kind: FaultKind, error: type[Exception]) -> None:
    lived = live(house().but(optimizer_faults=FaultPlan.always(kind), retry=RetrySettings(attempts=2)))
    assert isinstance(lived.error, error)
    assert lived.view.ended is None


@pytest.mark.parametrize("role", ["target_faults", "optimizer_faults"])
def test_after_an_outage_the_same_command_goes_on_as_if_nothing_had_been(role: str) -> None:
    shelf, home = MemoryShelf(), house()
    outage = {role: FaultPlan.always(FaultKind.UNAVAILABLE)}
    during = live(home.but(retry=RetrySettings(attempts=2), **outage), shelf)
    assert isinstance(during.error, UnavailableError)
    assert during.error.exit_code == 3
    after = live(home, shelf)
    assert after.error is None
    assert after.lasting == live(home).lasting


@pytest.mark.parametrize("seed", range(1, 11))
def test_two_runs_in_one_process_do_not_disturb_each_other(seed: int) -> None:
    alone = [live(house(seed)), live(house(seed + 1))]
    together = live_at_the_same_time([house(seed), house(seed + 1), house(seed)], MemoryShelf())
    assert [each.error for each in together] == [None, None, None]
    assert [each.lasting for each in together] == [alone[0].lasting, alone[1].lasting, alone[0].lasting]


@pytest.mark.parametrize("seed", range(1, 11))
def test_the_same_tasks_again_cost_nothing(seed: int) -> None:
    shelf = MemoryShelf()
    first, second = live(house(seed), shelf), live(house(seed), shelf, name="again")
    assert second.calls == 0
    assert second.lasting == first.lasting
    assert second.summary.usage.total.calls == second.summary.usage.overhead.replayed == first.served
    assert second.summary.usage.overhead.attempts == 0


@pytest.mark.parametrize("seed", range(1, 11))
def test_the_same_command_again_costs_nothing(seed: int) -> None:
    shelf = MemoryShelf()
    first, second = live(house(seed), shelf), live(house(seed), shelf)
    assert second.calls == 0
    assert second.lasting == first.lasting
    assert second.events == first.events


def what_is_needed_and_what_is_not(run: Run, target: Asker, environment: Environment) -> None:
    """Hint at the baseline, and at rollouts that nobody will ask for; some of it twice."""
    seed_skill = house().plan.seed_skill
    for skill in (seed_skill, Skill.from_text("Never asked for.\n")):
        attempts = Prompted(asker=target, environment=environment)
        works = Rollouts(attempts=attempts, skill=skill, tasks=environment.tasks.val)
        run.hint([*works, *works])
    run.hint(works)


@pytest.mark.parametrize("speculation", [0, 1, 5, 12, 1000])
@pytest.mark.parametrize("width", [1, 7, 64])
def test_speculation_costs_no_more_than_it_may_and_changes_nothing(width: int, speculation: int) -> None:
    for seed in (1, 6, 9):
        for faults in (FaultPlan(), some_faults(seed)):
            plain = house(seed).faulty(faults).at_once(width)
            whole = live(plain)
            home = plain.but(
                limits=LimitSettings(concurrency=width, speculation=speculation), prelude=what_is_needed_and_what_is_not
            )
            shelf = MemoryShelf()
            kill = dice("kill", seed, width, speculation).randrange(1, appends(home))
            killed, eager = lived_through(home, shelf, [kill])
            where = f"seed {seed}, {speculation} early calls, killed after record {kill}"
            assert eager.lasting == whole.lasting, where
            assert eager.spent.early.calls <= speculation, where
            check_ledger((killed, eager), where)
            undisturbed = live(home)
            assert undisturbed.lasting == whole.lasting, where
            assert undisturbed.served <= whole.served + speculation, where
            early = undisturbed.spent.early.calls
            assert min(speculation, len(home.plan.val)) <= early <= speculation, where
            cap = whole.calls + speculation
            capped = live(home.but(limits=msgspec.structs.replace(home.limits, calls=cap)))
            assert capped.calls <= cap, where
            assert capped.lasting == whole.lasting, where
