"""A child: prepares itself, dials home three times, then serves one request. Never returns.

Control is dialled last: Node takes a child as idle when all three are there, so everything slow is done by then.
"""

import os
import signal
import socket
import sys
from collections.abc import Callable
from typing import NamedTuple

from . import isolation, wire
from .binder import Binder
from .capture import take_over
from .execution import serve_request

PROCESS_LIMIT = 256
"""Processes and threads of one execution, counted in its own user namespace."""


def dial_home(address: str, channel: str, token: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(address)
    connection.sendall(wire.encode_hello(channel, token))
    return connection


def prepare_child(boot: dict, identity: int, zygote: int, data_size: int) -> None:
    """Session, namespaces, folders, limits; before any user code that was not imported by the zygote."""
    signal.set_wakeup_fd(-1)
    isolation.lead_session(zygote)
    private = boot["isolate"] and isolation.enter_namespaces(boot["memory"], boot["keep"])
    isolation.create_folders(private, boot["scratch"], str(identity))
    isolation.limit_resources(boot["memory"], data_size, PROCESS_LIMIT if private else None)


def dial_streams(boot: dict, token: str) -> None:
    take_over(dial_home(boot["home"], "o", token), dial_home(boot["home"], "e", token))


def serve_child(boot: dict, token: str, load) -> None:
    """Dials control, serves one request, ends the process."""
    control = dial_home(boot["home"], "c", token)
    reseed()
    serve_request(control, load)


def reseed() -> None:
    """numpy's legacy state is the same in every child of a zygote; Python's own `random` reseeds itself after a fork."""
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None and hasattr(numpy_random, "seed"):
        numpy_random.seed()


class Program(NamedTuple):
    """What a forked child does with the module that the zygote imported."""

    load: Callable[[], Binder]
    prepare: Callable[[], None]
    """Makes private what the fork shared, and starts threads that it did not bring along."""


def run_forked_child(
    boot: dict, order: dict, zygote: int, data_size: int, program: Program
) -> None:
    """Everything from the fork to the end of the process; what goes wrong is told on the zygote's stderr."""
    try:
        prepare_child(boot, order["id"], zygote, data_size)
        program.prepare()  # not before: a process with threads cannot enter a user namespace
        dial_streams(boot, order["token"])
        serve_child(boot, order["token"], program.load)
    except BaseException as error:
        os.write(
            2,
            f"child {order['id']} could not start: {type(error).__name__}: {error}\n".encode(
                "utf-8", "replace"
            ),
        )
    finally:
        os._exit(70)
