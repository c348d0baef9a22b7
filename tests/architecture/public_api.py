"""Renders the public names of skillopt with their signatures, one a line.

Run `python -m tests.architecture.public_api > tests/architecture/public_api.txt` when the change is meant,
and add a line to CHANGELOG.md.
"""

from __future__ import annotations

import inspect
import sys

import skillopt


def describe(name: str) -> str:
    value = getattr(skillopt, name)
    if isinstance(value, type):
        fields = getattr(value, "__struct_fields__", None)
        return f"class {name}" if fields is None else f"class {name}: {', '.join(fields)}"
    if callable(value):
        kind = "async def" if inspect.iscoroutinefunction(value) else "def"
        return f"{kind} {name}{inspect.signature(value)}"
    return f"value {name}"


def public_names() -> tuple[str, ...]:
    return tuple(sorted(getattr(skillopt, "__all__", ())))


def render() -> str:
    return "".join(f"{describe(name)}\n" for name in public_names())


if __name__ == "__main__":
    sys.stdout.write(render())
