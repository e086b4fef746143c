"""The zygote: imports the user's module once, then forks a child for each order of Node.

Descriptor 3 carries JSON lines: orders down (boot, fork, kill), events up (hello, ready, unsafe, failed, probed, refused, exit, gone).
It never sees an input or a result. Its end of file means that Node is gone: everything below is killed.
Modes: `fork` (user code imported here) and `spawn` (not imported; each child is a fresh interpreter).
"""

import faulthandler
import gc
import os
import platform
import select
import signal

from . import blas, child, isolation, kernel, opened, randomness, spawned, wire
from .capture import flush_streams, prepare_streams
from .failure import Failure
from .fork_safety import find_fork_hazard
from .loader import load_program
from .log_records import install_log_records
from .processes import kill_everything, kill_strays, kill_tree, signal_group

CONTROL = 3
MAX_LINE = 1 << 22
LEAVING_POLL_MS = 10
LEAVE_SECONDS = 0.8  # Node kills the sandbox after 1 s


class Control:
    """Lines on descriptor 3."""

    def __init__(self) -> None:
        os.set_inheritable(CONTROL, False)
        self.buffer = b""

    def read_orders(self) -> list[dict] | None:
        """Blocks for at least one read; None at the end of file."""
        try:
            data = os.read(CONTROL, 65536)
        except ConnectionError:
            data = b""  # Node died with events of ours unread
        if not data:
            return None
        *lines, self.buffer = (self.buffer + data).split(b"\n")
        if len(self.buffer) > MAX_LINE:
            raise wire.ProtocolError("line too long")
        return [wire.decode_line(line) for line in lines]

    def emit(self, event: str, **members) -> None:
        data = wire.encode_line({"event": event, **members})
        while data:
            data = data[os.write(CONTROL, data) :]


def main_zygote() -> None:
    control = Control()
    kernel.hide_session_keyring()
    orders: list[dict] = []
    while not orders:
        received = control.read_orders()
        if received is None:
            os._exit(0)
        orders += received
    boot = orders.pop(0)
    control.emit("hello", pid=os.getpid(), python=platform.python_version())
    faulthandler.enable(2)
    gc.disable()
    kernel.set_process_option(
        kernel.PR_SET_PDEATHSIG, 9
    )  # user code may hang at import, deaf to the end of file
    kernel.set_process_option(kernel.PR_SET_CHILD_SUBREAPER, 1)
    prepare_streams()
    os.environ.update(boot["variables"])
    os.environ.setdefault("LOG_LEVEL", "INFO")
    isolation.name_folders("/tmp" if boot["isolate"] else boot["scratch"])
    if boot["isolate"]:
        isolation.limit_import(boot["memory"], child.PROCESS_LIMIT)
    if boot["probe"]:
        _probe(control, boot)
    program = None if boot["startMode"] == "spawn" else _import(control, boot)
    kernel.set_process_option(kernel.PR_SET_PDEATHSIG, 0)
    if boot["isolate"]:
        isolation.lift_import_limits()
    zygote = Zygote(control, boot, program)
    try:
        zygote.serve(orders)
    finally:
        for pid in zygote.identities:
            kill_tree(pid)
        _leave()


def _import(control: Control, boot: dict):
    install_log_records()
    binder, hazard, files = _load(control, boot)
    if hazard is not None:
        control.emit("unsafe", reason=hazard)
        _leave()
    setters = blas.find_setters()
    generators = randomness.find_unseeded()
    gc.freeze()

    def prepare() -> None:
        opened.reopen(files)
        blas.start_threads(setters)
        randomness.seed(generators)

    return child.Program(lambda: binder, prepare)


def _load(control: Control, boot: dict):
    """Imports the module as a forking zygote does: `run`, why it cannot be forked (None when it can), files to open anew."""
    before = opened.list_inherited(CONTROL) if kernel.LINUX else {}
    wanted = blas.hold_back()
    randomness.watch()
    try:
        binder = load_program(boot["project"])
    except Failure as failure:
        _fail(control, failure)
    blas.release(wanted)
    gc.collect()  # closes what only a circle of references keeps open
    hazard = find_fork_hazard(before, boot["project"])
    return binder, hazard, opened.list_reopenable(before) if hazard is None else []


def _probe(control: Control, boot: dict) -> None:
    install_log_records()
    binder, hazard, _ = _load(control, boot)
    from .schema import derive_schemas

    try:
        given, returned = derive_schemas(binder)
    except Exception as error:
        _fail(
            control,
            Failure(
                "STARTUP_ERROR",
                f"No schema can be derived from run: {type(error).__name__}: {error}",
            ),
        )
    reason = None if boot["startMode"] == "spawn" else hazard
    mode = "spawn" if boot["startMode"] == "spawn" or hazard is not None else "fork"
    control.emit("probed", input=given, output=returned, mode=mode, reason=reason)
    _leave()


def _fail(control: Control, failure: Failure) -> None:
    flush_streams()
    control.emit("failed", code=failure.code, detail=failure.detail, traceback=failure.traceback)
    _leave()


def _leave() -> None:
    """Ends at once: threads and exit handlers of user code have no say."""
    flush_streams()
    kill_everything(LEAVE_SECONDS)
    os._exit(0)


def _wake(*_) -> None:
    """Only the wake-up descriptor counts."""


class Zygote:
    """Which child is which execution, and the loop over orders and ends."""

    def __init__(self, control: Control, boot: dict, program: child.Program | None) -> None:
        self.control = control
        self.boot = boot
        self.program = program
        self.pid = os.getpid()
        self.data_size = isolation.read_data_size()
        self.identities: dict[int, int] = {}
        self.leaders: dict[int, int] = {}
        self.leaving: dict[int, int] = {}

    def serve(self, orders: list[dict]) -> None:
        reader, writer = (
            os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK) if hasattr(os, "pipe2") else os.pipe()
        )
        os.set_blocking(writer, False)
        self.wakeup = (reader, writer)
        signal.signal(signal.SIGCHLD, _wake)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(CONTROL, select.POLLIN)
        poll.register(reader, select.POLLIN)
        flush_streams()
        self.control.emit("ready", mode="spawn" if self.program is None else "fork")
        self.obey(orders)
        while True:
            ready = dict(poll.poll(LEAVING_POLL_MS if self.leaving else 1000))
            if reader in ready:
                os.read(reader, 4096)
            if CONTROL in ready:
                received = self.control.read_orders()
                if received is None:
                    return
                self.obey(received)
            self.reap()

    def obey(self, orders: list[dict]) -> None:
        for order in orders:
            if order["order"] == "fork":
                self.fork(order)
            elif order["order"] == "kill":
                self.kill(order["id"], order["signal"])

    def fork(self, order: dict) -> None:
        flush_streams()  # what user code left in a buffer would be printed again by every child
        try:
            signal.signal(
                signal.SIGCHLD, signal.SIG_DFL
            )  # for the child: there it would cost 0.1 ms; what ends meanwhile is reaped after the orders
            pid = os.fork()
        except OSError as error:
            self.control.emit("refused", id=order["id"], reason=str(error))
            signal.signal(signal.SIGCHLD, _wake)
            return
        if pid == 0:
            for descriptor in (CONTROL, *self.wakeup):
                os.close(descriptor)
            if self.program is None:
                spawned.start_spawned(self.boot, order, self.pid)
            child.run_forked_child(self.boot, order, self.pid, self.data_size, self.program)
        signal.signal(signal.SIGCHLD, _wake)
        self.identities[pid] = order["id"]
        self.leaders[order["id"]] = pid

    def kill(self, identity: int, number: int) -> None:
        pid = self.leaders.get(identity)
        if pid is None:
            return
        if number == signal.SIGKILL:
            kill_tree(pid)
        else:
            signal_group(pid, number)

    def reap(self) -> None:
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            identity = self.identities.pop(pid, None)
            if identity is None:
                continue
            del self.leaders[identity]
            self.leaving[pid] = identity
            code = os.waitstatus_to_exitcode(status)
            cpu = round(usage.ru_utime + usage.ru_stime, 6)
            self.control.emit(
                "exit",
                id=identity,
                code=code if code >= 0 else None,
                signal=-code if code < 0 else None,
                cpu=cpu,
                rss=usage.ru_maxrss,
            )
            signal_group(pid, signal.SIGKILL)
        if self.leaving:
            remaining = kill_strays(set(self.identities), set(self.leaving))
            for pid in set(self.leaving) - remaining:
                identity = self.leaving.pop(pid)
                isolation.remove_folders(self.boot["scratch"], str(identity))
                self.control.emit("gone", id=identity)
