"""Calls of libc that a zygote makes ready, and each of its children makes.

A child pays for each page that it changes with a copy, and Python changes the pages of all that it
only looks at: functions, names, numbers. To go through a list of calls, with all arguments there
already, changes fewer than functions that make the same calls.
"""

from __future__ import annotations

import os

from .kernel import LINUX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

if LINUX:
    import ctypes

    # Keeps the interpreter's lock during a call: releasing it costs a child pages of its own.
    _libc = ctypes.PyDLL(None, use_errno=True)


class Calls:
    """Calls in the order in which they were added. Linux only."""

    __slots__ = ("_calls",)

    def __init__(self) -> None:
        self._calls: list[tuple[Any, tuple[Any, ...], ctypes.c_int | None]] = []

    def add(self, name: str, *arguments: object) -> None:
        """A function of libc that answers with a negative number when it fails."""
        self._calls.append((getattr(_libc, name), arguments, None))

    def add_opening(
        self, name: str, *arguments: object, kept: ctypes.c_int | None = None
    ) -> ctypes.c_int:
        """One that answers with a descriptor, which is kept for those that are added after it."""
        descriptor = ctypes.c_int() if kept is None else kept
        self._calls.append((getattr(_libc, name), arguments, descriptor))
        return descriptor

    def add_writing(self, path: str, text: bytes) -> None:
        """Writes to a file that exists."""
        descriptor = self.add_opening("open", path.encode(), os.O_WRONLY)
        self.add("write", descriptor, text, ctypes.c_size_t(len(text)))
        self.add("close", descriptor)

    def make(self) -> None:
        """Makes the calls in turn; raises OSError at the first that fails."""
        for function, arguments, kept in self._calls:
            result = function(*arguments)
            if result < 0:
                code = ctypes.get_errno()
                raise OSError(code, f"{function.__name__}: {os.strerror(code)}")
            if kept is not None:
                kept.value = result
