"""A child: prepares itself, says that it is ready, then serves one request. Never returns.

Node gives it a request once it is ready, so that everything slow is done by then.
"""

from __future__ import annotations

import os
import signal
import sys

from . import admission, at_fork, external, isolation, shares, wire
from .capture import take_over
from .execution import rehearse, serve_request
from .namespaces import Namespaces
from .restrictions import Restrictions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from .binder import Binder
    from .home import Connections
    from .messages import BootOrder

PROCESS_LIMIT = 256
"""Processes and threads of one execution, counted in its own user namespace."""


class Program:
    """What a forked child does with the module that the zygote imported.

    `load` returns the Binder. `prepare` makes private what the fork shared, and starts the threads
    that a fork does not copy; None: there is nothing of that.
    """

    __slots__ = ("load", "prepare")

    def __init__(self, load: Callable[[], Binder], prepare: Callable[[], None] | None) -> None:
        self.load = load
        self.prepare = prepare


class Parent:
    """The zygote as its children need it.

    Its process id, and what it has prepared for them: their namespaces (None where they have none
    of their own), limits and restrictions.
    """

    __slots__ = ("limits", "namespaces", "pid", "restrictions")

    def __init__(self, boot: BootOrder) -> None:
        self.restrictions = Restrictions(boot["isolation"])
        self.namespaces = (
            Namespaces(boot, os.getuid(), os.getgid()) if boot["isolation"]["namespaces"] else None
        )
        self.pid = os.getpid()
        self.limits = list_limits(boot)


def separate(parent: Parent) -> None:
    """Leaves the zygote and its other children; raises OSError. Lasts beyond an exec."""
    if parent.namespaces is None:
        isolation.lead_session(parent.pid)
    else:
        parent.namespaces.furnish()


def list_limits(boot: BootOrder) -> isolation.Limits:
    """Those of an execution, on top of what this process has."""
    if not boot["isolation"]["namespaces"]:
        return isolation.list_limits(boot["memory"], None)
    limits = isolation.list_limits(boot["memory"], PROCESS_LIMIT)
    return limits + shares.list_limits(boot["children"])


def settle(
    boot: BootOrder, identity: int, limits: isolation.Limits, restrictions: Restrictions
) -> None:
    """Folders, limits and restrictions of this execution; call after `separate`. Raises OSError."""
    if not boot["isolation"]["namespaces"]:
        isolation.create_folders(boot["scratch"], identity)
    isolation.limit_resources(limits)
    if not boot["isolation"]["namespaces"]:
        isolation.leave_processes_to_zygote()
    restrictions.apply()


def serve_child(
    connection: int,
    load: Callable[[], Binder],
    is_external: bool,
    call: bytes = b"",
    cause: bytes = b"",
) -> NoReturn:
    """Says on the control connection that it is ready, serves one request, ends the process.

    `call` goes before it, where it has not been said: one message wakes Node once. `cause` says
    that `load` will raise, and why.
    """
    reseed()
    rehearse()
    if is_external:
        external.listen()
    wire.write(connection, call + wire.encode_frame(wire.READY, cause))
    serve_request(connection, load)


def reseed() -> None:
    """Seeds numpy's legacy generator, whose state all children of a zygote would share.

    Python's own `random` seeds itself after a fork.
    """
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None and hasattr(numpy_random, "seed"):
        numpy_random.seed()


def report_failed_start(identity: int, error: BaseException) -> None:
    """Writes to stderr, which is the zygote's as long as the child has not connected its own."""
    message = f"child {identity} could not start: {type(error).__name__}: {error}\n"
    os.write(2, message.encode("utf-8", "replace"))


def run_forked_child(
    boot: BootOrder, identity: int, connections: Connections, parent: Parent, program: Program
) -> NoReturn:
    """Everything from the fork to the end of the process."""
    try:
        call = wire.encode_call(admission.read_number())
        signal.set_wakeup_fd(-1)
        separate(parent)
        settle(boot, identity, parent.limits, parent.restrictions)
        if boot["isolation"]["namespaces"]:
            at_fork.renew()
        if program.prepare is not None:
            program.prepare()
        take_over(connections.out, connections.err)
        serve_child(connections.control, program.load, boot["external"], call)
    except BaseException as error:
        report_failed_start(identity, error)
    finally:
        os._exit(70)
