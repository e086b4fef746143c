"""A child: prepares itself, connects to Node three times, then serves one request. Never returns.

The control connection comes last: Node takes a child as idle when all three are there, so that
everything slow is done by then.
"""

from __future__ import annotations

import os
import signal
import socket
import sys

from . import isolation, wire
from .capture import take_over
from .execution import serve_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from .binder import Binder
    from .messages import BootOrder, ForkOrder

PROCESS_LIMIT = 256
"""Processes and threads of one execution, counted in its own user namespace."""


class Program:
    """What a forked child does with the module that the zygote imported.

    `load` returns the Binder. `prepare` makes private what the fork shared, and starts the threads
    that a fork does not copy.
    """

    __slots__ = ("load", "prepare")

    def __init__(self, load: Callable[[], Binder], prepare: Callable[[], None]) -> None:
        self.load = load
        self.prepare = prepare


class Parent:
    """The zygote as its children need it: its process id, and its data size (RLIMIT_DATA)."""

    __slots__ = ("data_size", "pid")

    def __init__(self, pid: int, data_size: int) -> None:
        self.pid = pid
        self.data_size = data_size


def dial_home(address: str, channel: str, token: str) -> socket.socket:
    """Connects to Node's socket and identifies itself as one of the three channels of a child."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(address)
    connection.sendall(wire.encode_hello(channel, token))
    return connection


def prepare_child(boot: BootOrder, identity: int, parent: Parent) -> None:
    """Session, namespaces, directories and limits; runs before user code does."""
    signal.set_wakeup_fd(-1)
    isolation.lead_session(parent.pid)
    private = boot["isolate"] and isolation.enter_namespaces(boot["memory"], boot["keep"])
    isolation.create_folders(private, boot["scratch"], str(identity))
    processes = PROCESS_LIMIT if private else None
    isolation.limit_resources(boot["memory"], parent.data_size, processes)


def dial_streams(boot: BootOrder, token: str) -> None:
    """Connects stdout and stderr."""
    take_over(dial_home(boot["home"], "o", token), dial_home(boot["home"], "e", token))


def serve_child(boot: BootOrder, token: str, load: Callable[[], Binder]) -> NoReturn:
    """Connects the control channel, serves one request, ends the process."""
    control = dial_home(boot["home"], "c", token)
    reseed()
    serve_request(control, load)


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
    boot: BootOrder, order: ForkOrder, parent: Parent, program: Program
) -> NoReturn:
    """Everything from the fork to the end of the process."""
    try:
        prepare_child(boot, order["id"], parent)
        program.prepare()  # not before: a process with threads cannot enter a user namespace
        dial_streams(boot, order["token"])
        serve_child(boot, order["token"], program.load)
    except BaseException as error:
        report_failed_start(order["id"], error)
    finally:
        os._exit(70)
