"""The way home: the zygote connects its children to Node before it makes them.

A child inherits exactly its three connections and no way to open more: the address is a descriptor
that the zygote alone keeps, and Node removes the path when the zygote has said hello. Without
O_PATH (macOS), where nothing is isolated anyway, the path stays. At isolation level C the zygote
may make no sockets that connect to others: a steward (`confine`) dials for it.
"""

from __future__ import annotations

import errno
import os
import socket

from . import removal, wire
from .kernel import LINUX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from queue import SimpleQueue

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

    def remove_folders(self, scratch: str, identity: int) -> None:
        """Removes what `isolation.create_folders` has made for a child that is gone."""
        try:
            folder = os.open(scratch, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return  # a run may have removed it: no reason to end the others
        _remove_folders(folder, identity)
        os.close(folder)

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
"""Descriptor of the zygote at isolation level C: its line to the steward."""
_DIAL, _REMOVE = b"dr"
"""The first byte of a message; a token follows, or the number of a child."""
_MESSAGE_BYTES = 33
_DONE, _FAILED = b"+", b"-"
_MOST_WAITING = 4096
"""Children whose folders are still to be removed; those of more are left to Node."""


class DistantHome:
    """Node's socket by way of the steward, which answers each token with three connections.

    It also removes the folders of children: in the memory of the zygote their names would be found
    by other children. Nobody waits for that: a run may leave millions of files, and a zygote that
    does nothing else for ten seconds is killed, with all executions.
    """

    def __init__(self, line: int) -> None:
        os.set_inheritable(line, False)
        self._line = socket.socket(fileno=line)

    def list_descriptors(self) -> list[int]:
        """What a child must close."""
        return [self._line.fileno()]

    def remove_folders(self, _scratch: str, identity: int) -> None:
        """As of `Home`."""
        try:
            self._line.sendall(b"%c%d" % (_REMOVE, identity))
        except OSError:
            pass  # there is no steward any more: no reason to end what runs

    def dial(self, token: str) -> Connections:
        """As of `Home`."""
        self._line.sendall(b"%c%b" % (_DIAL, token.encode("ascii")))
        _, descriptors, _, _ = socket.recv_fds(self._line, 1, 3)
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
        if len(descriptors) != 3:
            for descriptor in descriptors:
                os.close(descriptor)
            raise ConnectionRefusedError(errno.ECONNREFUSED, "the steward could not connect")
        return Connections(*descriptors)


def serve_distant(line: socket.socket, home: Home, scratch: int) -> None:
    """The other end of a `DistantHome`, until that is closed. It does not trust what it reads.

    `scratch` is a descriptor of the parent of all folders, whose path does not let it list them.
    """
    # Here, since the zygote needs neither.
    import queue
    import threading

    waiting: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    remover = threading.Thread(target=_remove_all, args=(scratch, waiting), daemon=True)
    remover.start()
    try:
        while message := line.recv(_MESSAGE_BYTES):
            if message[0] != _REMOVE:
                _answer(line, home, message[1:])
            elif message[1:].isdigit() and waiting.qsize() < _MOST_WAITING:
                waiting.put(int(message[1:]))
    except OSError:
        pass  # the other end was closed
    line.close()
    waiting.put(None)
    remover.join()


def _remove_all(scratch: int, waiting: SimpleQueue[int | None]) -> None:
    while (identity := waiting.get()) is not None:
        _remove_folders(scratch, identity)


def _remove_folders(scratch: int, identity: int) -> None:
    try:
        removal.remove_folders(scratch, identity)
    except OSError:
        pass  # it is left to Node


def _answer(line: socket.socket, home: Home, token: bytes) -> None:
    """Raises OSError when the other end was closed."""
    try:
        connections = home.dial(token.decode("ascii"))
    except (OSError, UnicodeDecodeError):
        line.send(_FAILED)
        return
    try:
        socket.send_fds(line, [_DONE], connections.list())
    except OSError:
        # A run may have passed on so many that its user may not pass on more.
        line.send(_FAILED)
    finally:
        connections.close()
