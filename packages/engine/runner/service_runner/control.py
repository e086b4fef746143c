"""The zygote's side of descriptor 3: orders of Node as lines down, events as lines up."""

from __future__ import annotations

import os

from . import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .messages import Event, Order

CONTROL = 3
_MAX_LINE = 1 << 22


class Control:
    """Reads orders and writes events."""

    def __init__(self) -> None:
        os.set_inheritable(CONTROL, False)
        self._buffer = b""

    def read_orders(self) -> list[Order] | None:
        """The orders that one read completes; blocks until there is something to read.

        None at the end of file, which means that Node has ended. Raises ProtocolError.
        """
        try:
            data = os.read(CONTROL, 65536)
        except ConnectionError:
            data = b""  # Node ended before it had read all events
        if not data:
            return None
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        if len(self._buffer) > _MAX_LINE:
            raise wire.ProtocolError("line too long")
        return [wire.decode_order(line) for line in lines]

    def emit(self, *events: Event) -> None:
        """Writes events, at once, so that Node wakes once; blocks until they are written."""
        wire.write(CONTROL, b"".join(map(wire.encode_line, events)))
