"""The second tier needs the kernel only, so what every sandbox does is shown on it; tests/sandbox tries to get out."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from skillopt.domain.errors import CrashedError
from skillopt.kernel.sandbox import Confinement, Sandbox, Tier, probe
from skillopt.kernel.sandbox.cgroups import grouped
from skillopt.kernel.sandbox.launcher import landlock_version

needs_landlock = pytest.mark.skipif(landlock_version() < 6, reason="NO LANDLOCK that would do on this kernel")


@needs_landlock
def test_a_program_writes_where_it_works_and_nowhere_else(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    sandbox = Sandbox(Tier.LANDLOCK)
    script = f"echo in > here; echo out > {tmp_path}/there; pwd; echo $HOME $WORD"
    ran = asyncio.run(sandbox.run(("/bin/sh", "-c", script), Confinement(work=work), env={"WORD": "told"}))
    assert (work / "here").read_text() == "in\n"
    assert not (tmp_path / "there").exists()
    assert ran.stdout.decode() == f"{sandbox.inside(Confinement(work=work))}\n{work}/.tmp told\n"


@needs_landlock
def test_a_program_that_cannot_start_is_said_to_be_so(tmp_path: Path) -> None:
    with pytest.raises(CrashedError, match="no-such-program"):
        asyncio.run(Sandbox(Tier.LANDLOCK).run((f"{tmp_path}/no-such-program",), Confinement(work=tmp_path)))


@needs_landlock
def test_what_is_asked_of_a_program_is_given_to_it(tmp_path: Path) -> None:
    ran = asyncio.run(Sandbox(Tier.LANDLOCK).run(("/bin/cat",), Confinement(work=tmp_path), stdin=b"word"))
    assert (ran.exit_code, ran.stdout) == (0, b"word")


def test_every_tier_says_whether_it_holds() -> None:
    for tier in Tier:
        probed = asyncio.run(probe(tier))
        assert probed.tier is tier
        assert probed.says


def test_a_group_is_gone_after_its_block() -> None:
    async def folders() -> tuple[Path, ...]:
        async with grouped(processes=4, memory_mb=64) as group:
            made = () if group is None else group.folders
            assert all(os.access(folder, os.R_OK) for folder in made)
        return made

    assert not any(folder.exists() for folder in asyncio.run(folders()))
