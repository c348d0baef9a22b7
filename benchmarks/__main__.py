"""`python -m benchmarks [names…]`: each benchmark in its own process, one JSON line each, then how many bars are met.
Owns the order, the cheap ones first, and which of them run unless named; a missed bar is a line like any other."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import msgspec

from benchmarks.fresh import python, run

NAMES = ("startup", "demo", "journal", "client_cpu", "resume", "memory", "throughput")
GATES = ("gate_null", "gate_power", "gate_control")
WORLDS = (
    "calls_to_perfect",
    "hidden_rules",
    "memorising",
    "ablation",
    "big_run",
    "critical_path",
    "gate_null",
    "gate_power",
)
ALL = "all"
_SECONDS = 900.0


class _Broken(msgspec.Struct, frozen=True, kw_only=True):
    """The line of a benchmark that could not measure anything."""

    name: str
    why: str
    figure: None = None
    met: bool = False


def main() -> None:
    """Run the named benchmarks; without a name those of speed, with `all` the whole runs in the worlds too."""
    known = (*NAMES, *WORLDS, ALL)
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*known, []], metavar="name", help=", ".join(known))
    asked = parser.parse_args().names or NAMES
    names = (*NAMES, *WORLDS) if ALL in asked else asked
    met = sum(_met(name) for name in names)
    sys.stdout.write(f"{met} of {len(names)} bars met\n")


def _met(name: str) -> bool:
    """Run one benchmark, print its line, and say whether its bar is met."""
    module = f"benchmarks.worlds.{name}" if name in WORLDS else f"benchmarks.{name}"
    ran = run(python("-m", module), timeout=_SECONDS)
    try:
        line: dict[str, Any] = msgspec.json.decode(ran.output)
    except msgspec.DecodeError:
        line = msgspec.to_builtins(_Broken(name=name, why=ran.output[-1000:]))
    sys.stdout.write(msgspec.json.encode(line).decode() + "\n")
    sys.stdout.flush()
    return line["met"] is True


if __name__ == "__main__":
    main()
