"""The namespaces of a child: what it sees, and what it may do in them.

As pid 1 of its own processes it sees, signals and traces nothing else, and its end is the end of
all of them. User and mount namespaces give it a private /tmp, /dev/shm, /dev/pts and /proc, and
make RLIMIT_NPROC count its processes only (since Linux 5.14 the count is kept per user namespace).
The IPC namespace separates System V shared memory and message queues. Of what the kernel counts for
a user, the user namespace has its share (`shares`).
"""

from __future__ import annotations

import errno
import os

from . import kernel, shares
from .calls import Calls
from .isolation import FIRST_TO_DIE, OUTPUT_FOLDER, PRIVATE_MODE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .messages import BootOrder, Isolation

if kernel.LINUX:
    import ctypes
    import socket
    import struct

_CAPABILITY_VERSION_3 = 0x20080522
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1
_TERMINALS = 256
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_BIND, _MS_REC = 0x2, 0x4, 0x8, 0x1000, 0x4000


def list_namespaces(isolation: Isolation) -> int:
    """The flags for `kernel.Clone`."""
    own = kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC | kernel.CLONE_NEWPID
    return own | kernel.CLONE_NEWNET if isolation["network"] == "own" else own


class Namespaces:
    """A session and the namespaces of a child, as `furnish` sets them up.

    The zygote makes it ready for all its children. `uid` and `gid` are the zygote's, which the
    child keeps. /tmp and /dev/shm are private, of at most `memory` bytes each; paths of `keep` lie
    below them and are mounted again. /proc and /dev/pts show this execution only.
    """

    __slots__ = ("_begin", "_end", "_kept")

    def __init__(self, boot: BootOrder, uid: int, gid: int) -> None:
        self._begin = Calls()
        _add_session(self._begin)
        self._begin.add_writing("/proc/self/setgroups", b"deny")
        self._begin.add_writing("/proc/self/uid_map", f"{uid} {uid} 1".encode())
        self._begin.add_writing("/proc/self/gid_map", f"{gid} {gid} 1".encode())
        if boot["isolation"]["network"] == "own":
            _add_loopback(self._begin)
        self._kept = [
            (path, self._begin.add_opening("open", path.encode(), os.O_PATH))
            for path in boot["keep"]
        ]
        _add_views(self._begin, boot["memory"])
        self._end = Calls()
        # Namespaces inside count against the number that the zygote may make.
        self._end.add_writing("/proc/sys/user/max_user_namespaces", b"0")
        for path, share in shares.list_files(boot["children"]):
            self._end.add_writing(path, share)
        # With no_new_privs, which the sandbox sets, no capability can be regained.
        header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
        self._end.add("capset", header, (ctypes.c_uint32 * 6)())

    def furnish(self) -> None:
        """Sets up the namespaces in which this process began; raises OSError."""
        self._begin.make()
        for path, descriptor in self._kept:
            _put_back(path, descriptor.value)
        self._end.make()


def _add_session(calls: Calls) -> None:
    """As `isolation.lead_session`.

    Also a pid namespace needs the session: kill(2) with 0 reaches the whole process group, beyond
    it. That the zygote has died meanwhile does not show here; its own pid namespace ends with it.
    """
    calls.add("setsid")
    calls.add("prctl", kernel.PR_SET_PDEATHSIG, 9, 0, 0, 0)
    calls.add("umask", PRIVATE_MODE)
    calls.add_writing(*FIRST_TO_DIE)


def _add_loopback(calls: Calls) -> None:
    """Switches on the loopback interface of this network namespace."""
    any_socket = calls.add_opening("socket", int(socket.AF_INET), int(socket.SOCK_DGRAM), 0)
    request = struct.pack("16sH14x", b"lo", _IFF_UP)
    calls.add("ioctl", any_socket, ctypes.c_ulong(_SIOCSIFFLAGS), request)
    calls.add("close", any_socket)


def _add_views(calls: Calls, memory: int) -> None:
    flags = _MS_NOSUID | _MS_NODEV
    options = f"size={memory},nr_inodes=100000,mode=0700"
    add_mount(calls, "tmpfs", "/tmp", flags, options)
    add_mount(calls, "tmpfs", "/dev/shm", flags, options)
    add_mount(calls, "proc", "/proc", flags | _MS_NOEXEC, "")
    # Of the sandbox's terminals, any child could open those of the others. The host has a number of
    # them for all its mounts (kernel.pty.max).
    terminals = f"newinstance,ptmxmode=0666,mode=0600,max={_TERMINALS}"
    add_mount(calls, "devpts", "/dev/pts", _MS_NOSUID | _MS_NOEXEC, terminals)
    calls.add("mkdir", f"/tmp/{OUTPUT_FOLDER}".encode(), 0o700)


def add_mount(calls: Calls, kind: str, target: str, flags: int, options: str) -> None:
    """Attaches a new file system, named after its kind, at a folder."""
    word = ctypes.c_ulong(flags)
    calls.add("mount", kind.encode(), target.encode(), kind.encode(), word, options.encode())


def _put_back(path: str, descriptor: int) -> None:
    """Mounts what was opened at a path before another mount covered it."""
    os.makedirs(path, exist_ok=True)
    source = f"/proc/self/fd/{descriptor}".encode()
    flags = ctypes.c_ulong(_MS_BIND | _MS_REC)
    again = Calls()
    again.add("mount", source, path.encode(), b"none", flags, b"")
    again.make()
    os.close(descriptor)


def explain_refusal(error: OSError) -> str:
    """Why no process could be started, with the remedy where the text of the system has none."""
    if error.errno == errno.ENOSPC:
        remedy = "by this version at import, or raise user.max_user_namespaces"
        return f"{error}: the user namespaces are used up: {remedy}"
    if error.errno == errno.EPERM:
        return f"{error}: the sandbox must allow nested user namespaces"
    return str(error)
