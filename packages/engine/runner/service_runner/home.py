"""The way home: the zygote connects its children to Node before it makes them.

A child inherits exactly its three connections and no way to open more: the address is a descriptor
that the zygote alone keeps, and Node removes the path when the zygote has said hello. Without
O_PATH (macOS), where nothing is isolated anyway, the path stays.
"""

from __future__ import annotations

import os
import socket

from . import wire
from .kernel import LINUX

_O_PATH = 0o10000000


class Connections:
    """The descriptors of a child's three connections."""

    __slots__ = ("control", "err", "out")

    def __init__(self, control: int, out: int, err: int) -> None:
        self.control = control
        self.out = out
        self.err = err

    def list(self) -> list[int]:
        """In the order of the constructor."""
        return [self.control, self.out, self.err]

    def close(self) -> None:
        """Closes all three."""
        for descriptor in self.list():
            os.close(descriptor)


class Home:
    """Node's socket, as long as the path exists or the descriptor is open."""

    def __init__(self, path: str) -> None:
        self._descriptor = os.open(path, _O_PATH | os.O_CLOEXEC) if LINUX else None
        self._address = path if self._descriptor is None else f"/proc/self/fd/{self._descriptor}"

    def list_descriptors(self) -> list[int]:
        """What a child must close."""
        return [] if self._descriptor is None else [self._descriptor]

    def dial(self, token: str) -> Connections:
        """Three connections for the child of this token, which is spent with them."""
        dialled: list[socket.socket] = []
        try:
            for channel in ("c", "o", "e"):
                dialled.append(self._dial(channel, token))
        except OSError:
            for connection in dialled:
                connection.close()
            raise
        return Connections(*(connection.detach() for connection in dialled))

    def _dial(self, channel: str, token: str) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(self._address)
            connection.sendall(wire.encode_hello(channel, token))
        except OSError:
            connection.close()
            raise
        return connection
