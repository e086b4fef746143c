"""The zygote: imports the user's module once, then forks a child for each order of Node.

Descriptor 3 carries JSON lines, orders down and events up (`messages`), but no input and no result.
Its end of file means that Node has ended: every process below the zygote is then killed.

Modes: `fork` (user code is imported here) and `spawn` (each child is a fresh interpreter).
"""

from __future__ import annotations

import faulthandler
import gc
import os

from . import at_fork, blas, child, huge_pages, isolation, kernel, opened, randomness
from .capture import flush_streams, prepare_streams
from .children import Children
from .control import CONTROL, Control
from .failure import Failure
from .fork_safety import find_fork_hazard
from .home import LINE, DistantHome, Home
from .loader import load_program
from .log_records import install_log_records
from .processes import kill_everything, reclaim_child_signal
from .wire import ProtocolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from .binder import Binder
    from .messages import BootOrder, Order

LEAVE_SECONDS = 0.8  # Node kills the sandbox after 1 s


def main_zygote(*, is_confined: bool) -> NoReturn:
    """Everything from the start of the interpreter to the end of the process.

    `is_confined` says that `confine` has started it.
    """
    control = Control()
    kernel.hide_session_keyring()
    boot, orders = _read_boot(control)
    home = DistantHome(LINE) if is_confined else Home(boot["home"])
    control.emit({"event": "hello", "pid": os.getpid()})
    _prepare_process(boot)
    if boot["probe"] != "none":
        _probe(control, home, boot)
    program = None if boot["startMode"] == "spawn" else _import(control, home, boot)
    kernel.set_process_option(kernel.PR_SET_PDEATHSIG, 0)
    isolation.lift_import_limits()
    children = Children(control, home, boot, program)
    try:
        children.serve(orders)
    finally:
        children.kill_all()
        _leave()


def _read_boot(control: Control) -> tuple[BootOrder, list[Order]]:
    """The boot order, and the orders that arrived with it."""
    orders: list[Order] = []
    while not orders:
        received = control.read_orders()
        if received is None:
            os._exit(0)
        orders += received
    boot = orders.pop(0)
    if boot["order"] != "boot":
        raise ProtocolError("the first order must be boot")
    return boot, orders


def _prepare_process(boot: BootOrder) -> None:
    """Descriptors, streams, environment and limits, for the import and for all children."""
    if kernel.LINUX:
        opened.close_inherited(CONTROL)
    faulthandler.enable(2)
    gc.disable()
    # User code may hang at import and never read the end of file.
    kernel.set_process_option(kernel.PR_SET_PDEATHSIG, 9)
    kernel.set_process_option(kernel.PR_SET_CHILD_SUBREAPER, 1)
    prepare_streams()
    os.environ.update(boot["variables"])
    os.environ.setdefault("LOG_LEVEL", "INFO")
    is_private = boot["isolation"]["namespaces"]
    isolation.limit_core()
    isolation.limit_import(boot["memory"])
    if is_private:
        isolation.name_folders("/tmp")
        isolation.limit_processes_of_import(child.PROCESS_LIMIT, boot["children"])
    else:
        isolation.create_folders(boot["scratch"], 0)
        isolation.limit_files(boot["memory"])


def _import(control: Control, home: Home | DistantHome, boot: BootOrder) -> child.Program:
    install_log_records()
    binder, hazard, files = _load(control, home, boot)
    if hazard is not None:
        control.emit({"event": "unsafe", "reason": hazard})
        _leave_when_told(control)
    setters = blas.find_setters()
    generators = randomness.find_unseeded()
    gc.freeze()
    huge_pages.collapse()

    def prepare() -> None:
        opened.reopen(files)
        blas.start_threads(setters)
        randomness.seed(generators)

    is_needed = files or setters or generators
    return child.Program(lambda: binder, prepare if is_needed else None)


def _load(
    control: Control, home: Home | DistantHome, boot: BootOrder
) -> tuple[Binder, str | None, list[int]]:
    """Imports the module as a forking zygote does.

    Returns `run`, the reason why it cannot be forked (None when it can), and the files that each
    child opens again.
    """
    own = (CONTROL, *home.list_descriptors())
    before = opened.list_inherited(*own) if kernel.LINUX else {}
    wanted = blas.hold_back()
    randomness.watch()
    at_fork.watch()
    try:
        binder = load_program(boot["project"], boot["memory"])
    except Failure as failure:
        _fail(control, failure)
    reclaim_child_signal()
    blas.release(wanted)
    gc.collect()  # closes what only a cycle of references keeps open
    hazard = find_fork_hazard(before, boot["project"])
    return binder, hazard, opened.list_reopenable(before) if hazard is None else []


def _probe(control: Control, home: Home | DistantHome, boot: BootOrder) -> NoReturn:
    install_log_records()
    binder, hazard, _ = _load(control, home, boot)
    from .schema import derive_schemas

    try:
        input_schema, output_schema = derive_schemas(binder)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        _fail(control, Failure("STARTUP_ERROR", f"No schema can be derived from run: {reason}"))
    description = None
    if boot["probe"] == "backend":
        from .description import describe_backend

        try:
            description = describe_backend()
        except Failure as failure:
            _fail(control, failure)
    is_spawning = boot["startMode"] == "spawn"
    control.emit(
        {
            "event": "probed",
            "input": input_schema,
            "output": output_schema,
            "description": description,
            "mode": "spawn" if is_spawning or hazard is not None else "fork",
            "reason": None if is_spawning else hazard,
        }
    )
    _leave_when_told(control)


def _fail(control: Control, failure: Failure) -> NoReturn:
    control.emit(
        {
            "event": "failed",
            "code": failure.code,
            "detail": failure.detail,
            "traceback": failure.traceback,
        }
    )
    _leave_when_told(control)


def _leave_when_told(control: Control) -> NoReturn:
    """Node may look at the memory of the import first.

    And an order that is sent to a process that has ended breaks the connection, with all that Node
    has not read yet: why the import failed.
    """
    flush_streams()
    while control.read_orders() is not None:
        pass
    _leave()


def _leave() -> NoReturn:
    """Ends at once, without waiting for threads and exit handlers of user code."""
    flush_streams()
    kill_everything(LEAVE_SECONDS)
    os._exit(0)
