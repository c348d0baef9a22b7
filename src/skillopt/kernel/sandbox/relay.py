"""A program of its own inside the sandbox: passes what is sent to one loopback port on to a socket, and runs argv.
Owns the passing and the exit code; refuses to know what is said and where it leads: whoever holds the socket does.
Run as `python -I -S relay.py PORT SOCKET -- argv…`; imports nothing beyond the standard library."""

from __future__ import annotations

import os
import socket
import sys
import threading

_PIECE = 1 << 16
_CANNOT = 126


def main() -> None:
    """Listen, start the program, pass on until it ends, and end as it did."""
    port, door, command = int(sys.argv[1]), sys.argv[2], sys.argv[4:]
    listener = socket.create_server(("127.0.0.1", port), backlog=64)
    child = os.fork()
    if child == 0:
        try:
            os.execvp(command[0], command)
        except OSError as error:
            sys.stderr.write(f"sandbox: {error.strerror}: {command[0]}\n")
            os._exit(_CANNOT)
    threading.Thread(target=_serve, args=(listener, door), daemon=True).start()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    sys.stdout.flush()
    os._exit(code if code >= 0 else 128 - code)


def _serve(listener: socket.socket, door: str) -> None:
    while True:
        near, _ = listener.accept()
        far = socket.socket(socket.AF_UNIX)
        try:
            far.connect(door)
        except OSError:
            near.close()
            far.close()
            continue
        for source, sink in ((near, far), (far, near)):
            threading.Thread(target=_pass, args=(source, sink), daemon=True).start()


def _pass(source: socket.socket, sink: socket.socket) -> None:
    """Pass on until one side has said all; a side that broke off ends both."""
    try:
        while piece := source.recv(_PIECE):
            sink.sendall(piece)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        for end in (source, sink):
            end.close()


if __name__ == "__main__":
    main()
