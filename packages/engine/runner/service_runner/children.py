"""The children of a zygote, and the loop over orders of Node and ends of processes.

A child is running until it exits (event `exit`), then leaving until no process that it started is
left (event `gone`). In namespaces both come at once: the kernel reports the end of pid 1 when
nothing else is left in them.
"""

from __future__ import annotations

import os
import select
import signal

from . import at_fork, child, kernel, namespaces, spawned
from .capture import flush_streams
from .control import CONTROL, Control
from .processes import is_catching, kill_strays, kill_tree, send_signal, signal_group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from .home import Connections, DistantHome, Home
    from .messages import BootOrder, ExitEvent, ForkOrder, Order

_IDLE_POLL_MS = 1000
_LEAVING_POLL_MS = 10


def _wake(*_: object) -> None:
    """The signal handler: it only has to exist, so that the wake-up descriptor is written to."""


class Children:
    """Which process is which execution.

    `program` is None where each child is a fresh interpreter.
    """

    def __init__(
        self,
        control: Control,
        home: Home | DistantHome,
        boot: BootOrder,
        program: child.Program | None,
    ) -> None:
        self._control = control
        self._home = home
        self._boot = boot
        self._program = program
        self._has_namespaces = boot["isolation"]["namespaces"]
        self._clone = (
            kernel.Clone(namespaces.list_namespaces(boot["isolation"]))
            if self._has_namespaces
            else None
        )
        self._parent = child.Parent(boot)
        self._dialled: dict[int, Connections] = {}
        self._identities: dict[int, int] = {}
        self._leaders: dict[int, int] = {}
        self._leaving: dict[int, int] = {}
        self._wakeup = _open_wakeup()

    def serve(self, orders: list[Order]) -> None:
        """Obeys Node until it ends; begins with orders that have arrived already."""
        reader, writer = self._wakeup
        signal.signal(signal.SIGCHLD, _wake)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(CONTROL, select.POLLIN)
        poll.register(reader, select.POLLIN)
        flush_streams()
        self._control.emit({"event": "ready", "mode": "spawn" if self._program is None else "fork"})
        self._obey(orders)
        while True:
            ready = dict(poll.poll(_LEAVING_POLL_MS if self._leaving else _IDLE_POLL_MS))
            if reader in ready:
                os.read(reader, 4096)
            if CONTROL in ready:
                received = self._control.read_orders()
                if received is None:
                    return
                self._obey(received)
            self._reap()

    def kill_all(self) -> None:
        """Kills every running child with all that it started."""
        for pid in self._identities:
            self._end_by_force(pid)

    def _obey(self, orders: list[Order]) -> None:
        # All are dialled before there is a child that could find their tokens in its memory.
        for order in orders:
            if order["order"] == "fork":
                self._dial(order)
        for order in orders:
            if order["order"] == "fork":
                self._fork(order["id"])
            elif order["order"] == "kill":
                self._kill(order["id"], order["signal"])

    def _dial(self, order: ForkOrder) -> None:
        try:
            self._dialled[order["id"]] = self._home.dial(order["token"])
        except OSError as error:
            self._refuse(order["id"], f"it cannot be connected: {error}")

    def _refuse(self, identity: int, reason: str) -> None:
        self._control.emit({"event": "refused", "id": identity, "reason": reason})

    def _fork(self, identity: int) -> None:
        connections = self._dialled.pop(identity, None)
        if connections is None:
            return  # it was refused
        flush_streams()  # every child would print again what user code left in a buffer
        # The default is for the child, where setting it would cost 0.1 ms. Children that end
        # meanwhile are reaped after the orders.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        try:
            pid = self._create_process()
        except OSError as error:
            self._refuse(identity, namespaces.explain_refusal(error))
        else:
            if pid == 0:
                self._become_child(identity, connections)
            self._identities[pid] = identity
            self._leaders[identity] = pid
        connections.close()
        signal.signal(signal.SIGCHLD, _wake)

    def _create_process(self) -> int:
        if self._clone is None:
            return os.fork()
        at_fork.prepare()
        pid = None
        try:
            pid = self._clone.make()
        finally:
            if pid != 0:
                at_fork.resume()
        return pid

    def _become_child(self, identity: int, connections: Connections) -> NoReturn:
        try:
            for descriptor in (CONTROL, *self._wakeup, *self._home.list_descriptors()):
                os.close(descriptor)
            for others in self._dialled.values():
                others.close()
        except OSError as error:
            # Never back into the loop: this copy of the zygote would end the other children.
            child.report_failed_start(identity, error)
            os._exit(70)
        if self._program is None:
            spawned.start_spawned(self._boot, identity, connections, self._parent)
        child.run_forked_child(self._boot, identity, connections, self._parent, self._program)

    def _kill(self, identity: int, number: int) -> None:
        pid = self._leaders.get(identity)
        if pid is None:
            return
        if number == signal.SIGKILL or (self._has_namespaces and not is_catching(pid, number)):
            self._end_by_force(pid)
        else:
            signal_group(pid, number)

    def _end_by_force(self, pid: int) -> None:
        """In namespaces, what it started ends with it."""
        if self._has_namespaces:
            send_signal(pid, signal.SIGKILL)
        else:
            kill_tree(pid)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            self._end(pid, status)
        if self._leaving:
            self._forget_leaving()

    def _end(self, pid: int, status: int) -> None:
        """A process has ended: a child, or an orphan that the zygote adopted."""
        identity = self._identities.pop(pid, None)
        if identity is None:
            return
        del self._leaders[identity]
        code = os.waitstatus_to_exitcode(status)
        ended: ExitEvent = {
            "event": "exit",
            "id": identity,
            "code": code if code >= 0 else None,
            "signal": -code if code < 0 else None,
        }
        if self._has_namespaces:
            self._control.emit(ended, {"event": "gone", "id": identity})
            return
        self._control.emit(ended)
        self._leaving[pid] = identity
        signal_group(pid, signal.SIGKILL)

    def _forget_leaving(self) -> None:
        remaining = kill_strays(set(self._identities), set(self._leaving))
        for pid in set(self._leaving) - remaining:
            identity = self._leaving.pop(pid)
            self._home.remove_folders(self._boot["scratch"], identity)
            self._control.emit({"event": "gone", "id": identity})


def _open_wakeup() -> tuple[int, int]:
    """Reader and writer of the pipe that a signal writes to; neither blocks nor is inherited."""
    pipe = getattr(os, "pipe2", None)
    reader, writer = os.pipe() if pipe is None else pipe(os.O_CLOEXEC | os.O_NONBLOCK)
    os.set_blocking(writer, False)
    return reader, writer
