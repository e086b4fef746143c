"""A child that is a fresh interpreter, for user code that does not survive a fork.

What it is to do arrives on stdin.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import sys

from . import admission, child, wire
from .capture import prepare_streams, take_over
from .failure import Failure
from .loader import load_program
from .log_records import install_log_records
from .restrictions import Restrictions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from .binder import Binder
    from .home import Connections
    from .messages import BootOrder, FailedEvent, SpawnedStart

_MAX_START = 1 << 20
_MAX_CAUSE_TEXT = 1200
"""Characters, of which JSON makes up to 12 bytes each."""


def start_spawned(
    boot: BootOrder, identity: int, connections: Connections, parent: child.Parent
) -> NoReturn:
    """In the forked child of the spawning zygote: replaces itself by a fresh interpreter.

    It imports the module, whose memory must be its own: so it is limited before.
    """
    try:
        admission.await_admission(connections.control)
        child.separate(parent)
        reader, writer = os.pipe()
        inherited = connections.list()
        # The variables are in the environment already.
        reduced: BootOrder = {**boot, "variables": {}}
        start: SpawnedStart = {"boot": reduced, "id": identity, "connections": inherited}
        os.write(writer, json.dumps(start).encode("ascii"))
        os.close(writer)
        os.dup2(reader, 0)
        for descriptor in inherited:
            os.set_inheritable(descriptor, True)
        runner = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        os.execv(sys.executable, [sys.executable, "-I", "-X", "utf8", runner, "spawned"])
    except BaseException as error:
        child.report_failed_start(identity, error)
    finally:
        os._exit(71)


def main_spawned() -> NoReturn:
    """Everything from the start of the fresh interpreter to the end of the process."""
    start = wire.decode_spawned_start(os.read(0, _MAX_START))
    boot, identity = start["boot"], start["id"]
    control, out, err = start["connections"]
    try:
        os.set_inheritable(control, False)
        _close_stdin()
        gc.disable()
        prepare_streams()
        restrictions = Restrictions(boot["isolation"])
        child.settle(boot, identity, child.list_limits(boot), restrictions)
        take_over(out, err)
        faulthandler.enable(2)
        install_log_records()
        load, cause = _load(boot["project"], boot["memory"])
        child.serve_child(control, load, boot["external"], cause=cause)
    except BaseException as error:
        child.report_failed_start(identity, error)
    finally:
        os._exit(70)


def _close_stdin() -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)


def _load(project: str, memory: int) -> tuple[Callable[[], Binder], bytes]:
    """Imports before the request arrives; a failure is kept until there is a request to answer.

    Node hears of it before, so that it starts no interpreter for each execution: second value.
    """
    try:
        binder = load_program(project, memory)
    except Failure as failure:
        kept = failure

        def refuse() -> NoReturn:
            raise kept

        return refuse, encode_cause(failure.code, failure.detail, failure.traceback)
    return lambda: binder, b""


def encode_cause(code: str, detail: str, traceback: str | None) -> bytes:
    """Why the import failed, for Node, which reads no more than 32 kB."""
    event: FailedEvent = {
        "event": "failed",
        "code": code,
        "detail": detail[:_MAX_CAUSE_TEXT],
        "traceback": None if traceback is None else traceback[-_MAX_CAUSE_TEXT:],
    }
    return json.dumps(event).encode("ascii")
