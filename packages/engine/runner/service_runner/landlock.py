"""Landlock: what a child may write, and whom it may signal, whatever its mounts and its user allow.

In namespaces of its own it is a second wall: a child sees nothing of its siblings there. Without
them it is the only one between a child and their files, sockets and memory. It holds for all that
the child starts, and cannot be taken back (Documentation/userspace-api/landlock.rst).
"""

from __future__ import annotations

import os
import struct

from . import kernel
from .calls import Calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

if kernel.LINUX:
    import ctypes

# The same numbers on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_RULE_PATH_BENEATH = 1
_RULESET = struct.Struct("<QQQ")
"""struct landlock_ruleset_attr: files, network (from version 4 on), scopes (from 6 on)."""
_PATH_BENEATH = struct.Struct("<Qi")
"""struct landlock_path_beneath_attr, which is packed: rights, descriptor of the path."""
_PARENT_OFFSET = 8

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_FOLDER = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHARACTER_DEVICE, _MAKE_BLOCK_DEVICE = 1 << 6, 1 << 11
_TRUNCATE, _IOCTL_DEVICE = 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE
"""What a rule for something else than a folder may allow."""
_READ = _EXECUTE | _READ_FILE | _READ_FOLDER
_USE = _READ | _WRITE_FILE | _TRUNCATE | _IOCTL_DEVICE
_OWN = ~(_MAKE_CHARACTER_DEVICE | _MAKE_BLOCK_DEVICE)

_ABSTRACT_SOCKETS, _SIGNALS = 1 << 0, 1 << 1

LEAST_VERSION = 2
"""Version 1 (Linux 5.13 to 5.18) refuses every move of a file to another folder."""
_SCOPE_VERSION = 6
_LOG_VERSION = 7
_NO_LOG = 1 << 0 | 1 << 2
"""Refusals would fill the audit log of the operator."""


def find_version() -> int:
    """The version of the kernel's interface; 0 if it has none, or it is switched off."""
    if not kernel.LINUX:
        return 0
    try:
        return kernel.call(_CREATE_RULESET, None, 0, _ASK_VERSION)
    except OSError:
        return 0


def keep_signals() -> None:
    """Keeps the signals of this process, and of all that it starts, among themselves.

    Does nothing where the kernel is older than Linux 6.12; raises OSError.
    """
    if find_version() < _SCOPE_VERSION:
        return
    ruleset = kernel.call(_CREATE_RULESET, _RULESET.pack(0, 0, _SIGNALS), _RULESET.size, 0)
    kernel.call(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


class Confinement:
    """What a child may use.

    Below `readable`, it may read and execute files; below `used`, write those that exist as well;
    below `owned`, do everything but make devices; below `opened`, read files and list no folder,
    also where it may change the permissions of folders. Paths that do not exist when this is made
    are passed over; the zygote makes it ready for all its children. It connects to abstract sockets
    of its own processes only, and signals only them (from version 6 on).
    """

    __slots__ = ("_calls",)

    def __init__(
        self,
        readable: Iterable[str],
        used: Iterable[str],
        owned: Iterable[str],
        *,
        opened: Iterable[str] = (),
        version: int | None = None,
    ) -> None:
        known = find_version() if version is None else version
        rights = _list_rights(known)
        scopes = _ABSTRACT_SOCKETS | _SIGNALS if known >= _SCOPE_VERSION else 0
        # Each version before took a shorter struct, and refuses a longer one only if it is not 0.
        attributes = _RULESET.pack(rights, 0, scopes)
        self._calls = Calls()
        ruleset = self._calls.add_opening(
            "syscall", _CREATE_RULESET, attributes, ctypes.c_size_t(_RULESET.size), 0
        )
        for paths, allowed in (
            (readable, _READ),
            (used, _USE),
            (owned, _OWN),
            (opened, _READ_FILE),
        ):
            for path in paths:
                if os.path.exists(path):
                    _add_rule(self._calls, ruleset, path, allowed & rights)
        flags = _NO_LOG if known >= _LOG_VERSION else 0
        self._calls.add("syscall", _RESTRICT_SELF, ruleset, flags)
        self._calls.add("close", ruleset)

    def enter(self) -> None:
        """Restricts this thread and all that it starts; raises OSError.

        Must be called after mounts, which are refused from then on, and before other threads are
        started.
        """
        self._calls.make()


def _list_rights(version: int) -> int:
    """All rights over files that a version knows; only those can be refused."""
    count = 13 if version < 2 else 14 if version < 3 else 15 if version < 5 else 16
    return (1 << count) - 1


def _add_rule(calls: Calls, ruleset: ctypes.c_int, path: str, rights: int) -> None:
    """Allows something at a path, and below it where it is a folder."""
    # The kernel refuses rights of folders for something else.
    allowed = rights if os.path.isdir(path) else rights & _OF_FILES
    rule = ctypes.create_string_buffer(_PATH_BENEATH.pack(allowed, 0), _PATH_BENEATH.size)
    parent = ctypes.c_int.from_buffer(rule, _PARENT_OFFSET)
    calls.add_opening("open", os.fsencode(path), os.O_PATH | os.O_CLOEXEC, kept=parent)
    calls.add("syscall", _ADD_RULE, ruleset, _RULE_PATH_BENEATH, rule, 0)
    calls.add("close", parent)
