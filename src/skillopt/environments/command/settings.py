"""The settings of the command grader. Owns the config section; refuses to know how a program runs."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Literal

import msgspec


class CommandSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Config section `environment.command`, for `grader: command`: a program that grades answers, in the sandbox.

    run: The program and its arguments, started in a fresh folder; `python` is skillopt's own, without packages.
    files: Files and folders below the config's folder that are put into that folder; hidden ones inside are left out.
    verdict: `json` reads the last line the program prints; `exit` takes exit code 0 as right and 1 as wrong.
    seconds: The longest that one answer may take.
    memory_mb: The most memory that one answer may take, in MiB.
    """

    run: tuple[str, ...]
    files: tuple[str, ...] = ()
    verdict: Literal["json", "exit"] = "json"
    seconds: float = 60.0
    memory_mb: int = 512

    def __post_init__(self) -> None:
        if not self.run or not all(self.run):
            raise ValueError("environment.command.run must name a program, such as [python, grade.py]")
        if self.verdict == "exit" and PurePosixPath(self.run[0]).name.startswith("python"):
            raise ValueError("a Python program that crashes ends with 1 too: it must print a verdict, as JSON")
        if self.seconds <= 0 or self.memory_mb < 1:
            raise ValueError("environment.command.seconds and memory_mb must be more than 0")
