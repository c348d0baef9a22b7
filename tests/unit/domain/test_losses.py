from __future__ import annotations

import pytest

from skillopt.domain.losses import NoLoss, pairs_needed
from skillopt.domain.seeds import dice

Task = tuple[float, float]


def shown(tasks: list[Task], *, rounds: int, seed: int, margin: float = 0.05) -> bool:
    """Say whether the evidence is ever enough, for tasks with these two chances of success."""
    draw, evidence = dice("pairs", seed), NoLoss(margin=margin)
    for _ in range(rounds):
        evidence = evidence.after([float(draw.random() < one) - float(draw.random() < other) for one, other in tasks])
        if evidence.shown(0.05):
            return True
    return False


def share(tasks: list[Task], *, rounds: int, count: int = 400) -> float:
    return sum(shown(tasks, rounds=rounds, seed=seed) for seed in range(count)) / count


@pytest.mark.parametrize(
    "tasks",
    [
        pytest.param([(1.0, 0.95)] * 40, id="each task a little worse"),
        pytest.param([(1.0, 1.0)] * 38 + [(1.0, 0.0)] * 2, id="two tasks lost"),
        pytest.param([(1.0, 1.0)] * 36 + [(1.0, 0.5)] * 4, id="four tasks half lost"),
        pytest.param([(0.5, 0.45)] * 40, id="coins"),
        pytest.param([(0.0, 0.45)] * 10 + [(1.0, 0.7833)] * 30, id="a trade"),
    ],
)
def test_a_loss_as_large_as_the_margin_passes_at_most_at_alpha_however_often_one_looks(tasks: list[Task]) -> None:
    assert sum(one - other for one, other in tasks) / len(tasks) >= 0.05 - 1e-3
    assert share(tasks, rounds=10) <= 0.05


def test_no_loss_at_all_is_shown_soon() -> None:
    assert share([(1.0, 1.0)] * 40, rounds=2, count=5) == 1.0
    assert share([(1.0, 1.0)] * 40, rounds=1, count=5) == 0.0


def test_noise_takes_longer() -> None:
    assert 0.3 < share([(0.95, 0.95)] * 40, rounds=10, count=200) < share([(0.95, 0.95)] * 40, rounds=30, count=200)


@pytest.mark.parametrize(("margin", "needed"), [(0.02, 178), (0.05, 70), (0.1, 35)])
def test_how_many_pairs_it_takes_at_best(margin: float, needed: int) -> None:
    assert pairs_needed(margin, 0.05) == needed
    assert not NoLoss(margin=margin).after([0.0] * (needed - 1)).shown(0.05)
    assert NoLoss(margin=margin).after([0.0] * needed).shown(0.05)
    assert pairs_needed(margin, 0.01) > needed


def test_the_order_within_a_round_and_its_size_do_not_matter() -> None:
    losses = [0.0, 1.0, -1.0, 0.0, 0.5] * 7
    assert NoLoss(margin=0.1).after(losses) == NoLoss(margin=0.1).after(sorted(losses))
    assert NoLoss(margin=0.1).after([0.0] * 100_000).chance == pytest.approx(0.0)
    assert NoLoss(margin=0.1).after([1.0] * 100_000).chance == 1.0
    assert NoLoss(margin=0.1).after(()) == NoLoss(margin=0.1)


@pytest.mark.parametrize("margin", [0.0, 1.0, -0.1])
def test_a_margin_is_a_share(margin: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        NoLoss(margin=margin)
