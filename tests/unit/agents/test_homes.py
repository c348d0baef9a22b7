from __future__ import annotations

from skillopt.agents.homes import Homes


def test_a_home_is_empty_for_the_next_run_but_for_what_lasts() -> None:
    homes = Homes(lasting=(".cache/parts",))
    with homes.lent() as home:
        (home / ".cache/parts").mkdir(parents=True)
        (home / ".cache/parts/unpacked").write_text("kept")
        (home / ".cache/log").write_text("gone")
        (home / "sessions/today").mkdir(parents=True)
        (home / "link").symlink_to("/etc")
    with homes.lent() as again:
        assert again == home
        assert sorted(path.relative_to(again).as_posix() for path in again.rglob("*")) == [
            ".cache",
            ".cache/parts",
            ".cache/parts/unpacked",
        ]
    homes.close()
    assert not home.exists()


def test_two_runs_at_a_time_have_two_homes() -> None:
    homes = Homes()
    with homes.lent() as one, homes.lent() as other:
        assert one != other
    homes.close()
    assert not one.exists()
    assert not other.exists()
