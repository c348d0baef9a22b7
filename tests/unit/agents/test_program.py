from __future__ import annotations

from skillopt.agents.program import Model


def test_a_key_is_never_shown() -> None:
    assert "hush" not in repr(Model(name="m", base_url=None, key="hush"))
