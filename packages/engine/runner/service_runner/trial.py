"""Tries one piece of the isolation, as the user that versions run as: `trial PIECE [FILTER]`.

A piece works when it refuses what it shall refuse, not when the kernel says that it has it. Ends
with exit code 0, or with a sentence on stderr that says what failed.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import sys

from . import kernel, landlock, namespaces
from .restrictions import Restrictions
from .seccomp import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from .messages import Isolation

_SYSTEM = "/usr"
_ELSEWHERE = "/proc/self/status"
_PTRACE_TRACEME = 0
_MEMORY = 1 << 20


def main_trial(arguments: list[str]) -> NoReturn:
    """Everything from the start of the interpreter to the end of the process."""
    piece, *rest = arguments
    try:
        kernel.set_process_option(kernel.PR_SET_NO_NEW_PRIVS, 1)
        if piece == "landlock":
            fault = try_landlock()
        elif piece == "landlock-signals":
            fault = try_signals()
        elif piece == "namespaces":
            fault = try_namespaces(json.loads(rest[0]))
        elif piece == "seccomp":
            fault = try_seccomp(*rest)
        else:
            fault = f"There is no piece {piece}."
    except OSError as error:
        fault = f"The kernel refused it ({error})."
    sys.exit(fault)


def try_landlock() -> str | None:
    """Restricts this process: it may then read below one folder only."""
    version = landlock.find_version()
    if version < landlock.LEAST_VERSION:
        return f"The kernel has version {version} of Landlock, {landlock.LEAST_VERSION} is needed."
    landlock.Confinement([_SYSTEM], [], []).enter()
    os.listdir(_SYSTEM)
    try:
        os.close(os.open(_ELSEWHERE, os.O_RDONLY))
    except PermissionError:
        return None
    return "The kernel accepted the rules, and let a file be read that they do not allow."


def try_signals() -> str | None:
    """Restricts this process: it may then signal no process from before, though of its own user."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(writer)
        os.read(reader, 1)
        os._exit(0)
    landlock.Confinement([_SYSTEM], [], []).enter()
    try:
        os.kill(pid, 0)
    except PermissionError:
        return None
    finally:
        os.close(writer)
    return "Landlock does not keep signals inside."


def try_namespaces(isolation_of_child: Isolation) -> str | None:
    """Makes a child as a zygote makes one, which separates and restricts itself as one."""
    boot: Any = {"isolation": isolation_of_child, "memory": _MEMORY, "children": 1, "keep": []}
    uid, gid = os.getuid(), os.getgid()
    pid = kernel.Clone(namespaces.list_namespaces(isolation_of_child)).make()
    if pid == 0:
        try:
            namespaces.Namespaces(boot, uid, gid).furnish()
            Restrictions(isolation_of_child).apply()
            os.close(os.open("/tmp/trial", os.O_CREAT | os.O_WRONLY))
            os._exit(0 if os.getpid() == 1 else 1)
        except BaseException as error:
            os.write(2, f"a namespace below that of bubblewrap: {error}\n".encode())
        finally:
            os._exit(1)
    _, status = os.waitpid(pid, 0)
    if status != 0:
        os._exit(1)  # the child has said why
    return None


def try_seccomp(text: str) -> str | None:
    """Installs the filter of a sandbox, and makes a call that it refuses."""
    Filter(text).install()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(_PTRACE_TRACEME, 0, None, None) == -1 and ctypes.get_errno() == errno.EPERM:
        return None
    return "The kernel accepted the filter, and let a call pass that it refuses."
