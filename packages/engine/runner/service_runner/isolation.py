"""What separates a child from its siblings in one sandbox, before user code runs.

It begins in namespaces of its own (`list_namespaces`). As pid 1 of its own processes it sees,
signals and traces nothing else, and its end is the end of all of them. User and mount namespaces
give it a private /tmp, /dev/shm, /dev/pts and /proc, and make RLIMIT_NPROC count its processes only
(since Linux 5.14 the count is kept per user namespace). The IPC namespace separates System V shared
memory and message queues.
"""

from __future__ import annotations

import errno
import os
import resource
import sys

from . import kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .messages import BootOrder, Isolation

OUTPUT_FOLDER = "output"
NOFILE_LIMIT = 4096
PROCESSES_OF_ZYGOTE = 128
"""What an execution that takes all processes leaves to the zygote, for the next ones."""
MEMORY_RESERVE = 32 << 20
"""Bytes between the soft and the hard limit, so that a MemoryError can still be reported."""


def lead_session(zygote: int) -> None:
    """Starts a session that ends with the zygote, and is killed first when memory runs out.

    `zygote` is its process id as this process sees it: 0 from a namespace of its own. Also a pid
    namespace needs the session: kill(2) with 0 reaches the whole process group, beyond it.
    """
    os.setsid()
    kernel.set_process_option(kernel.PR_SET_PDEATHSIG, 9)
    if os.getppid() != zygote:
        os._exit(0)  # the zygote died before the line above
    os.umask(0o077)
    if kernel.LINUX:
        try:
            die_first()
        except PermissionError:
            pass  # the launcher of isolation level C has done it, and left /proc read-only


def die_first() -> None:
    """Makes this process, and what it starts, the first to be killed when memory runs out."""
    kernel.write_file(b"/proc/self/oom_score_adj", b"1000")


def list_namespaces(isolation: Isolation) -> int:
    """The flags for `kernel.clone`."""
    own = kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC | kernel.CLONE_NEWPID
    return own | kernel.CLONE_NEWNET if isolation["network"] == "own" else own


class Namespaces:
    """The namespaces of a child as `furnish` sets them up.

    The zygote makes the arguments ready for all its children: what a child computes costs it pages
    of its own. `uid` and `gid` are the zygote's, which the child keeps. /tmp and /dev/shm are
    private, of at most `memory` bytes each; paths of `keep` lie below them and are mounted again.
    /proc and /dev/pts show this execution only.
    """

    __slots__ = ("_has_own_network", "_keep", "_maps", "_private", "_views")

    def __init__(self, boot: BootOrder, uid: int, gid: int) -> None:
        self._has_own_network = boot["isolation"]["network"] == "own"
        self._keep = boot["keep"]
        self._maps = (
            (b"/proc/self/setgroups", b"deny"),
            (b"/proc/self/uid_map", f"{uid} {uid} 1".encode()),
            (b"/proc/self/gid_map", f"{gid} {gid} 1".encode()),
        )
        flags = kernel.MS_NOSUID | kernel.MS_NODEV
        options = f"size={boot['memory']},nr_inodes=100000,mode=0700"
        self._private = [
            kernel.Mount("tmpfs", folder, "tmpfs", flags, options)
            for folder in ("/tmp", "/dev/shm")
        ]
        # Of the sandbox's terminals, any child could open those of the others.
        terminals = "newinstance,ptmxmode=0666,mode=0600"
        self._views = [
            kernel.Mount("proc", "/proc", "proc", flags | kernel.MS_NOEXEC, ""),
            kernel.Mount(
                "devpts", "/dev/pts", "devpts", kernel.MS_NOSUID | kernel.MS_NOEXEC, terminals
            ),
        ]

    def furnish(self) -> None:
        """Sets up the namespaces in which this process began; raises OSError."""
        for file, text in self._maps:
            kernel.write_file(file, text)
        if self._has_own_network:
            kernel.raise_loopback()
        kept = [(path, os.open(path, os.O_PATH)) for path in self._keep]
        for mount in self._private:
            mount.attach()
        for path, descriptor in kept:
            _put_back(path, descriptor)
        for mount in self._views:
            mount.attach()
        # Namespaces inside count against the number that the zygote may make.
        kernel.write_file(b"/proc/sys/user/max_user_namespaces", b"0")
        kernel.drop_capabilities()


def _put_back(path: str, descriptor: int) -> None:
    """Mounts what was opened at a path before another mount covered it."""
    os.makedirs(path, exist_ok=True)
    source = f"/proc/self/fd/{descriptor}"
    kernel.Mount(source, path, "none", kernel.MS_BIND | kernel.MS_REC, "").attach()
    os.close(descriptor)


def explain_refusal(error: OSError) -> str:
    """Why no process could be started, with the remedy where the text of the system has none."""
    if error.errno == errno.ENOSPC:
        return f"{error}: the user namespaces are used up, raise user.max_user_namespaces"
    if error.errno == errno.EPERM:
        return f"{error}: the sandbox must allow nested user namespaces"
    return str(error)


def name_folders(home: str) -> None:
    """Sets HOME, TMPDIR and OUTPUT_DIRECTORY."""
    os.environ.update(HOME=home, TMPDIR=home, OUTPUT_DIRECTORY=os.path.join(home, OUTPUT_FOLDER))


def create_folders(private: bool, scratch: str, name: str) -> None:
    """Creates the directories that only this execution uses.

    In a private /tmp they have the names that the zygote has set already.
    """
    home = "/tmp" if private else os.path.join(scratch, name)
    if not private:
        os.mkdir(home, 0o700)
        name_folders(home)
        tempfile: Any = sys.modules.get("tempfile")
        if tempfile is not None:
            tempfile.tempdir = None  # it was computed from TMPDIR at its first use
    os.mkdir(os.path.join(home, OUTPUT_FOLDER), 0o700)


def remove_folders(scratch: str, name: str) -> None:
    """Removes the directories of an execution that had no private /tmp."""
    folder = os.path.join(scratch, name)
    if os.path.isdir(folder):
        import shutil

        shutil.rmtree(folder, ignore_errors=True)


def read_data_size() -> int:
    """Bytes of private writable memory mapped now: what RLIMIT_DATA counts."""
    if not kernel.LINUX:
        return 0
    with open("/proc/self/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("VmData:"):
                return int(line.split()[1]) * 1024
    return 0


def limit_resources(memory: int, data_size: int, processes: int | None) -> None:
    """Allows `memory` bytes on top of `data_size`, which the zygote had.

    `processes` is limited only in a user namespace of the child's own.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _lower(resource.RLIMIT_NOFILE, NOFILE_LIMIT, NOFILE_LIMIT)
    if kernel.LINUX:
        _lower(resource.RLIMIT_DATA, data_size + memory, data_size + memory + MEMORY_RESERVE)
    if processes is not None:
        _lower(resource.RLIMIT_NPROC, processes, processes)


def leave_processes_to_zygote() -> None:
    """For the next children, where all processes of a version count together (level C)."""
    _, most = resource.getrlimit(resource.RLIMIT_NPROC)
    if most != resource.RLIM_INFINITY:
        less = max(1, most - PROCESSES_OF_ZYGOTE)
        resource.setrlimit(resource.RLIMIT_NPROC, (less, less))


def limit_import(memory: int, processes: int) -> None:
    """Soft limits of the zygote while it imports user code, removed by `lift_import_limits`."""
    for kind, most in (
        (resource.RLIMIT_DATA, read_data_size() + memory),
        (resource.RLIMIT_NPROC, processes),
    ):
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(
            kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard)
        )


def lift_import_limits() -> None:
    """Sets the soft limits back to the hard ones."""
    for kind in (resource.RLIMIT_DATA, resource.RLIMIT_NPROC):
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (hard, hard))


def _lower(kind: int, soft: int, hard: int) -> None:
    _, most = resource.getrlimit(kind)
    if most != resource.RLIM_INFINITY:
        soft, hard = min(soft, most), min(hard, most)
    resource.setrlimit(kind, (soft, hard))


def release_reserve() -> None:
    """Call after a MemoryError: gives the memory that reporting it needs."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
