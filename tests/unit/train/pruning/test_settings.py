from __future__ import annotations

import msgspec
import pytest

from skillopt.train.pruning.settings import PruneSettings


@pytest.mark.parametrize("wrong", [{"group": 0}, {"trials": 0}, {"margin": 0.0}, {"margin": 1.0}, {"alpha": 0.0}])
def test_what_makes_no_sense_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(msgspec.ValidationError, match=rf"prune\.{next(iter(wrong))}|and prune\.{next(iter(wrong))}"):
        msgspec.convert(wrong, PruneSettings)
