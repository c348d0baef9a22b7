"""The scripted server as a program: prints one JSON line with its port, and serves until it is interrupted.
Owns the flags; knows nothing else."""

from __future__ import annotations

import argparse
import asyncio
import sys

import msgspec

from skillopt.domain.errors import UsageError
from skillopt.testing.server.embedded import ScriptedServer
from skillopt.testing.server.service import Settings


def main(arguments: list[str] | None = None) -> int:
    """Serve, and return an exit code."""
    parser = argparse.ArgumentParser(prog="python -m skillopt.testing.server", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1; 0 takes a free one")
    parser.add_argument("--scenario", default="rules", help="what is played where the URL does not say")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every reply")
    parser.add_argument("--optimizer-latency", type=float, help="seconds before a reply of optimizer or judge")
    parser.add_argument("--log", type=int, default=1000, help="how many requests /log remembers")
    flags = parser.parse_args(arguments)
    settings = Settings(
        scenario=flags.scenario,
        latency=flags.latency,
        optimizer_latency=flags.optimizer_latency,
        log_size=flags.log,
    )
    try:
        asyncio.run(_serve(settings, flags.port))
    except KeyboardInterrupt:
        return 0
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


async def _serve(settings: Settings, port: int) -> None:
    async with ScriptedServer(settings, port=port) as server:
        sys.stdout.write(msgspec.json.encode({"port": server.port, "url": server.root}).decode() + "\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    sys.exit(main())
