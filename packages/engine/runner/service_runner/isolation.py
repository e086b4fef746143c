"""What separates a child from its siblings in one sandbox, besides namespaces: session, limits."""

from __future__ import annotations

import os
import resource
import sys

from . import kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Limits = list[tuple[int, tuple[int, int]]]

OUTPUT_FOLDER = "output"
PRIVATE_MODE = 0o077
"""The umask of a child."""
FIRST_TO_DIE = ("/proc/self/oom_score_adj", b"1000")
"""A file, and what to write to it: the process, and what it starts, is the first to be killed when
memory runs out."""
_NAME_BYTES = 16
NOFILE_LIMIT = 4096
PROCESSES_OF_ZYGOTE = 128
"""What an execution that takes all processes leaves to the zygote, for the next ones."""
NO_CORE = (1, 1)
"""Bytes. Where dumps go to a program of the host, the kernel starts that with a limit of 0 too, not
with this one (fs/coredump.c), which is too small for a file. A filter keeps it.
"""
MEMORY_RESERVE = 32 << 20
"""Bytes between the soft and the hard limit, so that a MemoryError can still be reported."""


def lead_session(zygote: int) -> None:
    """Starts a session that ends with the zygote, and is killed first when memory runs out."""
    os.setsid()
    kernel.set_process_option(kernel.PR_SET_PDEATHSIG, 9)
    if os.getppid() != zygote:
        os._exit(0)  # the zygote died before the line above
    os.umask(PRIVATE_MODE)
    if kernel.LINUX:
        try:
            die_first()
        except PermissionError:
            pass  # the launcher of isolation level C has done it, and left /proc read-only


def die_first() -> None:
    """Makes this process, and what it starts, the first to be killed when memory runs out."""
    path, text = FIRST_TO_DIE
    with open(path, "wb", buffering=0) as file:
        file.write(text)


def name_folders(home: str) -> None:
    """Sets HOME, TMPDIR and OUTPUT_DIRECTORY."""
    os.environ.update(HOME=home, TMPDIR=home, OUTPUT_DIRECTORY=os.path.join(home, OUTPUT_FOLDER))


def create_folders(scratch: str, identity: int) -> None:
    """Creates the directories of an execution that has no private /tmp; 0 is the import.

    Its siblings are the same user. Landlock keeps them from its files, but not from changing
    permissions, times and attributes, also of the directory itself: they cannot guess its name.
    Only the execution knows it; the zygote, whose memory they have, never does.
    """
    home = os.path.join(scratch, f"{identity}-{os.urandom(_NAME_BYTES).hex()}")
    os.mkdir(home, 0o700)
    os.mkdir(os.path.join(home, OUTPUT_FOLDER), 0o700)
    name_folders(home)
    tempfile: Any = sys.modules.get("tempfile")
    if tempfile is not None:
        tempfile.tempdir = None  # it was computed from TMPDIR at its first use


def read_data_size() -> int:
    """Bytes of private writable memory mapped now: what RLIMIT_DATA counts."""
    if not kernel.LINUX:
        return 0
    with open("/proc/self/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("VmData:"):
                return int(line.split()[1]) * 1024
    return 0


def list_limits(memory: int, processes: int | None) -> Limits:
    """Allows `memory` bytes on top of what this process has; for it, or for its children.

    `processes` is limited only in a user namespace of the child's own.
    """
    limits = [
        _lower(resource.RLIMIT_CORE, *NO_CORE),
        _lower(resource.RLIMIT_NOFILE, NOFILE_LIMIT, NOFILE_LIMIT),
    ]
    if kernel.LINUX:
        most = read_data_size() + memory
        limits.append(_lower(resource.RLIMIT_DATA, most, most + MEMORY_RESERVE))
    if processes is not None:
        limits.append(_lower(resource.RLIMIT_NPROC, processes, processes))
    return limits


def limit_core() -> None:
    """Before code of the version begins."""
    resource.setrlimit(*_lower(resource.RLIMIT_CORE, *NO_CORE))


def limit_resources(limits: Limits) -> None:
    """Sets what `list_limits` has listed."""
    for kind, soft_and_hard in limits:
        resource.setrlimit(kind, soft_and_hard)


def leave_processes_to_zygote() -> None:
    """For the next children, where all processes of a version count together (level C)."""
    _, most = resource.getrlimit(resource.RLIMIT_NPROC)
    if most != resource.RLIM_INFINITY:
        less = max(1, most - PROCESSES_OF_ZYGOTE)
        resource.setrlimit(resource.RLIMIT_NPROC, (less, less))


def limit_import(memory: int) -> None:
    """A soft limit of the zygote while it imports user code, removed by `lift_import_limits`."""
    if kernel.LINUX:
        _lower_softly(resource.RLIMIT_DATA, read_data_size() + memory)


def limit_processes_of_import(processes: int, children: int) -> None:
    """The same in a user namespace, where the zygote and all its children count together.

    What code at import may raise it to is what they may have: `processes` each. An ordinary user
    could not give the zygote back more.
    """
    most = processes * (1 + children)
    resource.setrlimit(*_lower(resource.RLIMIT_NPROC, processes, most))


def limit_files(memory: int) -> None:
    """Where files are the host's, one has the bound of a private /tmp; for the children too."""
    resource.setrlimit(*_lower(resource.RLIMIT_FSIZE, memory, memory))


def lift_import_limits() -> None:
    """Sets the soft limits back to the hard ones."""
    if not kernel.LINUX:
        return
    for kind in (resource.RLIMIT_DATA, resource.RLIMIT_NPROC):
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (hard, hard))


def _lower_softly(kind: int, most: int) -> None:
    _, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _lower(kind: int, soft: int, hard: int) -> tuple[int, tuple[int, int]]:
    _, most = resource.getrlimit(kind)
    if most != resource.RLIM_INFINITY:
        soft, hard = min(soft, most), min(hard, most)
    return kind, (soft, hard)


def release_reserve() -> None:
    """Call after a MemoryError: gives the memory that reporting it needs."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
