"""The way home: the zygote connects its children to Node before it makes them.

A child inherits exactly its three connections and no way to open more: the address is a descriptor
that the zygote alone keeps, and Node removes the path when the zygote has said hello. Without
O_PATH (macOS), where nothing is isolated anyway, the path stays. At isolation level C the zygote
may make no sockets that connect to others: the warden dials for it.
"""

from __future__ import annotations

import errno
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
        dialled: list[socket.SocketType] = []
        try:
            for channel in ("c", "o", "e"):
                dialled.append(self._dial(channel, token))
        except OSError:
            for connection in dialled:
                connection.close()
            raise
        return Connections(*(connection.detach() for connection in dialled))

    def _dial(self, channel: str, token: str) -> socket.SocketType:
        # The type below `socket.socket`, whose own part costs more than the connection.
        connection = socket.SocketType(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(self._address)
            connection.sendall(wire.encode_hello(channel, token))
        except OSError:
            connection.close()
            raise
        return connection


LINE = 4
"""Descriptor of the zygote at isolation level C: its line to the warden."""
_TOKEN_BYTES = 32
_DONE, _FAILED = b"+", b"-"


class DistantHome:
    """Node's socket by way of the warden, which answers each token with three connections."""

    def __init__(self, line: int) -> None:
        os.set_inheritable(line, False)
        self._line = socket.socket(fileno=line)

    def list_descriptors(self) -> list[int]:
        """What a child must close."""
        return [self._line.fileno()]

    def dial(self, token: str) -> Connections:
        """As of `Home`."""
        self._line.sendall(token.encode("ascii"))
        _, descriptors, _, _ = socket.recv_fds(self._line, 1, 3)
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
        if len(descriptors) != 3:
            for descriptor in descriptors:
                os.close(descriptor)
            raise ConnectionRefusedError(errno.ECONNREFUSED, "the warden could not connect")
        return Connections(*descriptors)


def dial_for_others(line: socket.socket, home: Home) -> None:
    """The other end of a `DistantHome`, until that is closed. It does not trust what it reads."""
    try:
        while token := line.recv(_TOKEN_BYTES):
            _answer(line, home, token)
    except OSError:
        pass  # the other end was closed
    line.close()


def _answer(line: socket.socket, home: Home, token: bytes) -> None:
    try:
        connections = home.dial(token.decode("ascii"))
    except (OSError, UnicodeDecodeError):
        line.send(_FAILED)
        return
    try:
        socket.send_fds(line, [_DONE], connections.list())
    finally:
        connections.close()
