"""What a run of an external backend has besides: a handle of what it has begun elsewhere.

A handle is stored before the run goes on, and handed to the next attempt where the worker is lost.
A cancellation is an exception, where the code is ready for one: so it can cancel what it waits for.
"""

from __future__ import annotations

import os
import signal

from . import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

    from .messages import ExternalRun
    from .reporting import Reporter

HANDLE_LIMIT = 4096
"""Characters of a handle (`handle-writer.ts`)."""


class _Cancellation:
    """Whether the run was asked to end, and what is raised then; None: nothing at present."""

    __slots__ = ("raised", "was_requested")

    def __init__(self) -> None:
        self.was_requested = False
        self.raised: BaseException | None = None

    def note(self, _number: int, _frame: FrameType | None) -> None:
        self.was_requested = True
        self._raise()

    def open(self, error: BaseException) -> None:
        """From now on a request raises this, once; also one that has come before."""
        self.raised = error
        if self.was_requested:
            self._raise()

    def close(self) -> None:
        self.raised = None

    def _raise(self) -> None:
        error, self.raised = self.raised, None
        if error is not None:
            raise error


cancellation = _Cancellation()


def listen() -> None:
    """Notes that Node asks the run to end, instead of ending at once."""
    signal.signal(signal.SIGTERM, cancellation.note)


class External:
    """The run of an external backend: what it was handed, and how it keeps a handle."""

    __slots__ = ("_connection", "_frames", "_owed", "_owner", "_reporter", "handle", "was_lost")

    def __init__(self, connection: int, reporter: Reporter, given: ExternalRun) -> None:
        self.handle = given["handle"]
        self.was_lost = given["wasLost"]
        self._connection = connection
        self._reporter = reporter
        self._frames = wire.FrameReader(connection, HANDLE_LIMIT)
        self._owner = os.getpid()
        self._owed = 0

    def is_open(self) -> bool:
        """Whether this is the process of the run."""
        return os.getpid() == self._owner

    def keep(self, handle: str) -> None:
        """Returns when it is stored. Raises ValueError, and OSError where Node has hung up."""
        if not 0 < len(handle) <= HANDLE_LIMIT or not (handle.isascii() and handle.isprintable()):
            limit = f"1 to {HANDLE_LIMIT} characters, printable ASCII"
            raise ValueError(f"a handle must be a text of {limit}")
        self._reporter.send(wire.HANDLE, handle.encode("ascii"))
        self._owed += 1
        # That of a handle which a cancellation has interrupted may still be on its way.
        while self._owed > 0:
            frame = self._frames.read()
            if frame is None:
                raise OSError("Node has hung up")
            if frame[0] == wire.KEPT:
                self._owed -= 1
        self.handle = handle


_current: External | None = None


def open_external(connection: int, reporter: Reporter, given: ExternalRun) -> External:
    """For the run of this process."""
    global _current
    _current = External(connection, reporter, given)
    return _current


def get_external() -> External | None:
    """That of the run; None where it is not one of an external backend."""
    return _current if _current is not None and _current.is_open() else None
