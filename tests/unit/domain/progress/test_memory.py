from __future__ import annotations

from skillopt.domain.progress.memory import Fate, Memory, Pattern, Tried, TriedChange


def tried(step: int, epoch: int, *fates: Fate) -> Tried:
    changes = tuple(
        TriedChange(words=f"{fate} {number} " + "x" * 1000, fate=fate, tasks=("t",))
        for number, fate in enumerate(fates)
    )
    patterns = (Pattern(words="late"),)
    return Tried(
        step=step,
        epoch=epoch,
        action="reject",
        failed_tasks=1,
        tasks=2,
        changes=changes,
        patterns=patterns,
        candidate=0.5,
    )


def test_the_steps_of_an_epoch_are_remembered_whole() -> None:
    first, second = tried(1, 1, "rejected", "refused"), tried(2, 1, "accepted")
    assert Memory().after(first).after(second).tried == (first, second)


def test_of_earlier_epochs_only_what_a_gate_decided_on_is_kept_and_shortened() -> None:
    before = tried(1, 1, "rejected", "refused", "not chosen", "accepted")
    (old, _) = Memory(advice="Few.").after(before).after(tried(2, 2)).tried
    assert [change.fate for change in old.changes] == ["rejected", "accepted"]
    assert max(len(change.words) for change in old.changes) == 400
    assert (old.patterns, old.changes[0].tasks, old.candidate) == ((), (), 0.5)


def test_the_ledger_is_bounded_and_forgets_the_oldest_first() -> None:
    memory = Memory(advice="Few.")
    for step in range(1, 101):
        memory = memory.after(tried(step, step, *(("rejected",) * 50)))
    assert [each.step for each in memory.tried] == list(range(69, 101))
    assert sum(len(each.changes) for each in memory.tried[:-1]) == 31 * 4
    assert memory.advice == "Few."
