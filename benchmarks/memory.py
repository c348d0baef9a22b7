"""Bar 12: the resident memory of a process that measures a skill on 100,000 tasks, 128 at once.
Flat means that the second half of the calls adds little beyond the answers' own need; the detail explains the figure."""

from __future__ import annotations

import argparse
import resource
import sys
from pathlib import Path

import msgspec

from benchmarks.claims import Claim, Part, tell
from benchmarks.fresh import python, run_well
from benchmarks.session import measure_val
from benchmarks.workspace import folder, prepared, stub, write_project

_TASKS = 100_000
_CONCURRENCY = 128
_MUST_MB = 400.0
_MUST_GROWTH = 0.15
_PAGE = resource.getpagesize()


class _Peak(msgspec.Struct, frozen=True, kw_only=True):
    """What a fresh process says of itself: megabytes."""

    ready: float
    halfway: float
    answered: float
    peak: float
    seconds: float
