"""A program of its own: binds itself to limits, and for the second tier to landlock and seccomp, then becomes argv.
Owns the system calls; refuses every import beyond the standard library, because it runs without site packages.
Run as `python -I -S launcher.py`; what it is to do comes first on its input, so that no list of processes shows it.
What it cannot set up is exit 126 and a line on stderr."""

from __future__ import annotations

import ctypes
import json
import os
import platform
import resource
import signal
import stat
import struct
import sys

CANNOT = 126
FILTER = "<filter>"  # stands in a command for the number of an open file that holds the filter
SETTINGS = "<settings>"  # and for that of one that holds further words of the command, each ended by a NUL
LENGTH = 12  # digits of the number of bytes that come before the input of the program
_ABI_NEEDED = 3  # the first that guards truncation
_NO_NEW_PRIVILEGES, _SECCOMP, _DEATH_SIGNAL, _DROP_BOUND = 38, 22, 1, 24
_CREATE_RULESET, _ADD_RULE, _RESTRICT = 444, 445, 446
_READ, _EVERYTHING = 0b1101, (1 << 13) - 1  # execute, read files, list folders
_FOR_FILES = 0b110 | 1 | 1 << 14 | 1 << 15  # what may be said of a path that is no folder
_NEW_NAMESPACES = 0x7E020080
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS = 1, 38

# Doors into the kernel that no grader needs and an attack might; the numbers, by machine, of
# ptrace, mount, umount2, pivot_root, unshare, setns, keyctl, add_key, request_key, bpf, perf_event_open,
# process_vm_readv, process_vm_writev, kexec_load, kexec_file_load, init_module, finit_module, delete_module,
# io_uring_setup, open_by_handle_at, name_to_handle_at, personality, userfaultfd, kcmp, pidfd_getfd, pidfd_send_signal,
# chroot, reboot, swapon, swapoff, sethostname, setdomainname, acct, settimeofday, clock_settime, adjtimex,
# quotactl, move_mount, open_tree, fsopen, fsmount, fsconfig, fspick, mount_setattr
_DOORS = {
    "x86_64": (
        *(101, 165, 166, 155, 272, 308, 250, 248, 249, 321, 298, 310, 311, 246, 320, 175, 313, 176, 425, 304, 303),
        *(135, 323, 312, 438, 424, 161, 169, 167, 168, 170, 171, 163, 164, 227, 159, 179),
        *(429, 428, 430, 432, 431, 433, 442),
    ),
    "aarch64": (
        *(117, 40, 39, 41, 97, 268, 219, 217, 218, 280, 241, 270, 271, 104, 294, 105, 273, 106, 425, 265, 264),
        *(92, 282, 272, 438, 424, 51, 142, 224, 225, 161, 162, 89, 170, 112, 171, 60),
        *(429, 428, 430, 432, 431, 433, 442),
    ),
}
# What namespaces would guard and landlock does not: pidfd_open (programs wait for their own children with it, and one
# that may not can lose what a child said last), socket, shmget, semget, msgget, mq_open, setsid, setpgid,
# setpriority, ioprio_set, sched_setaffinity, sched_setscheduler, sched_setparam, sched_setattr, then changes of mode,
# owner, attributes and times
_UNGUARDED = {
    "x86_64": (
        *(434, 41, 29, 64, 68, 240, 112, 109, 141, 251, 203, 144, 142, 314),
        *(90, 91, 268, 452, 92, 93, 94, 260, 188, 189, 190, 197, 198, 199, 132, 235, 261, 280),
    ),
    "aarch64": (
        *(434, 198, 194, 190, 186, 180, 157, 154, 140, 30, 122, 119, 118, 274),
        *(52, 53, 452, 55, 54, 5, 6, 7, 14, 15, 16, 88),
    ),
}
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CLONE, _CLONE3, _LIMIT = {"x86_64": 56, "aarch64": 220}, 435, {"x86_64": 302, "aarch64": 261}

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Carry out the plan: join groups, set limits, confine, and become the program."""
    plan = json.loads(_read(int(_read(LENGTH))))
    try:
        _prctl(_DEATH_SIGNAL, signal.SIGKILL)
        for entrance in plan["groups"]:
            door = os.open(entrance, os.O_WRONLY)
            os.write(door, str(os.getpid()).encode())
            os.close(door)
        for number, value in plan["limits"]:
            resource.setrlimit(number, (value, value))
        if plan["landlock"] is not None:
            _confine(**plan["landlock"])
        files = {FILTER: lambda: _as_file(_filter()), SETTINGS: lambda: _as_file(plan["settings"].encode())}
        argv = [files[word]() if word in files else word for word in plan["argv"]]
        os.execve(argv[0], argv, plan["env"])
    except (OSError, KeyError, ValueError) as error:
        sys.stderr.write(f"sandbox: {type(error).__name__}: {error}\n")
        sys.exit(CANNOT)


def landlock_version() -> int:
    """Return the version of landlock that this kernel has; 0 when it has none."""
    return max(0, int(_libc.syscall(_CREATE_RULESET, None, 0, 1)))


def _confine(read: list[str], write: list[str], devices: list[str]) -> None:
    if landlock_version() < _ABI_NEEDED:
        raise OSError("this machine has no landlock that would do")
    _drop_capabilities()
    _prctl(_NO_NEW_PRIVILEGES, 1)
    version = landlock_version()
    every = _EVERYTHING | 1 << 13 | 1 << 14 | (1 << 15 if version >= 5 else 0)
    network, scoped = (0b11 if version >= 4 else 0), (0b11 if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    attributes = struct.pack("=QQQ", every, network, scoped)[:size]
    rules = _checked(_libc.syscall(_CREATE_RULESET, attributes, size, 0))
    for paths, allowed in ((read, _READ), (write, every), (devices, 0b110 | 1 << 14)):
        for path in paths:
            _allow(rules, path, allowed)
    _checked(_libc.syscall(_RESTRICT, rules, 0))
    os.close(rules)
    _put_in_force(_filter(*_UNGUARDED[platform.machine()]))


def _allow(rules: int, path: str, allowed: int) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    if not stat.S_ISDIR(os.fstat(place).st_mode):
        allowed &= _FOR_FILES
    _checked(_libc.syscall(_ADD_RULE, rules, 1, struct.pack("=Qi", allowed, place), 0))
    os.close(place)


def _drop_capabilities() -> None:
    """Give up what root has beyond a plain user; a plain user has nothing to give up."""
    for number in range(64):
        _libc.prctl(_DROP_BOUND, number, 0, 0, 0)
    header, nothing = struct.pack("=Ii", 0x20080522, 0), bytes(24)
    capset = 126 if platform.machine() == "x86_64" else 91
    _checked(_libc.syscall(capset, header, nothing))


def _filter(*more: int) -> bytes:
    """Return a filter of system calls that refuses the doors, new namespaces, others' limits, and some more."""
    machine = platform.machine()
    if machine not in _ARCHITECTURE:
        raise OSError(f"the system calls of {machine} are not known")
    load, equal, at_least, any_bit, result = 0x20, 0x15, 0x35, 0x45, 0x06
    code = [
        (load, 0, 0, 4),
        (equal, 1, 0, _ARCHITECTURE[machine]),
        (result, 0, 0, _KILL),
        (load, 0, 0, 0),
        (at_least, 0, 1, 0x40000000),
        (result, 0, 0, _ERRNO | _ENOSYS),
        (equal, 0, 1, _CLONE3),
        (result, 0, 0, _ERRNO | _ENOSYS),
    ]
    for number in (*_DOORS[machine], *more):
        code += [(equal, 0, 1, number), (result, 0, 0, _ERRNO | _EPERM)]
    code += [
        (equal, 0, 4, _LIMIT[machine]),
        (load, 0, 0, 16),
        (equal, 1, 0, 0),
        (result, 0, 0, _ERRNO | _EPERM),
        (result, 0, 0, _ALLOW),
        (equal, 0, 3, _CLONE[machine]),
        (load, 0, 0, 16),
        (any_bit, 0, 1, _NEW_NAMESPACES),
        (result, 0, 0, _ERRNO | _EPERM),
        (result, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *line) for line in code)


def _read(size: int) -> bytes:
    """Return exactly so many bytes of the input; what comes after them is the program's."""
    read = b""
    while len(read) < size:
        piece = os.read(0, size - len(read))
        if not piece:
            sys.exit(CANNOT)
        read += piece
    return read


def _as_file(content: bytes) -> str:
    """Return the number of an open file with this content, for bubblewrap to read."""
    file = os.memfd_create("skillopt", 0)  # no flag: bubblewrap inherits it
    with os.fdopen(os.dup(file), "wb") as whole:
        whole.write(content)
    os.lseek(file, 0, os.SEEK_SET)
    return str(file)


def _put_in_force(code: bytes) -> None:
    program = ctypes.create_string_buffer(code, len(code))
    pointer = ctypes.create_string_buffer(struct.pack("@HP", len(code) // 8, ctypes.addressof(program)))
    _checked(_libc.prctl(_SECCOMP, 2, pointer, 0, 0))


def _prctl(option: int, value: int) -> None:
    _checked(_libc.prctl(option, value, 0, 0, 0))


def _checked(answer: int) -> int:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer


if __name__ == "__main__":
    main()
