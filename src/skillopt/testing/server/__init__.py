"""The scripted model server: brains over HTTP on loopback, in the dialects of three providers.
Run it with `python -m skillopt.testing.server`, or embed it; never reachable from another machine."""

from skillopt.testing.server.embedded import ScriptedServer, ThreadedServer, serve_in_thread
from skillopt.testing.server.ledger import LoggedRequest, RoleStats
from skillopt.testing.server.service import Settings

__all__ = ["LoggedRequest", "RoleStats", "ScriptedServer", "Settings", "ThreadedServer", "serve_in_thread"]
