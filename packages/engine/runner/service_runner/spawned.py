"""A child that is a fresh interpreter, for user code that does not survive a fork.

Its order arrives on stdin.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import sys

from . import child, isolation, wire
from .capture import prepare_streams
from .failure import Failure
from .loader import load_program
from .log_records import install_log_records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from .binder import Binder
    from .messages import BootOrder, ForkOrder, SpawnedStart

_MAX_START = 1 << 20


def start_spawned(boot: BootOrder, order: ForkOrder, zygote: int) -> NoReturn:
    """In the forked child of the spawning zygote: replaces itself by a fresh interpreter."""
    try:
        reader, writer = os.pipe()
        # The variables are in the environment already.
        start: SpawnedStart = {"boot": {**boot, "variables": {}}, "order": order, "zygote": zygote}
        os.write(writer, json.dumps(start).encode("ascii"))
        os.close(writer)
        os.dup2(reader, 0)
        runner = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        os.execv(sys.executable, [sys.executable, "-I", "-X", "utf8", runner, "spawned"])
    finally:
        os._exit(71)


def main_spawned() -> NoReturn:
    """Everything from the start of the fresh interpreter to the end of the process."""
    start = wire.decode_spawned_start(os.read(0, _MAX_START))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    boot, order = start["boot"], start["order"]
    try:
        gc.disable()
        prepare_streams()
        parent = child.Parent(start["zygote"], isolation.read_data_size())
        child.prepare_child(boot, order["id"], parent)
        child.dial_streams(boot, order["token"])
        faulthandler.enable(2)
        install_log_records()
        load = _load(boot["project"])
        child.serve_child(boot, order["token"], load)
    except BaseException as error:
        child.report_failed_start(order["id"], error)
    finally:
        os._exit(70)


def _load(project: str) -> Callable[[], Binder]:
    """Imports before the request arrives; a failure is kept until there is a request to answer."""
    try:
        binder = load_program(project)
    except Failure as failure:
        kept = failure

        def refuse() -> NoReturn:
            raise kept

        return refuse
    return lambda: binder
