"""How a child gets its limits: it says which process it is, and Node puts that under them.

Nothing that a child inherits could do it: code at import makes the children, and would have it too.
"""

from __future__ import annotations

import os

from . import wire
from .kernel import LINUX


def read_number() -> int:
    """The id of this process as its zygote numbers processes; call before /proc is its own."""
    return int(os.readlink("/proc/self")) if LINUX else os.getpid()


def await_admission(connection: int) -> None:
    """Says which process this is on the control connection, and waits until it is limited.

    Raises OSError, also when Node has gone.
    """
    wire.write(connection, wire.encode_call(read_number()))
    if os.read(connection, len(wire.ADMITTED)) != wire.ADMITTED:
        raise ConnectionError("the connection was closed before the process was admitted")
