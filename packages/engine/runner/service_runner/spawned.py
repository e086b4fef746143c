"""A child that is a fresh interpreter: for user code that does not survive a fork. Its order comes on stdin."""

import faulthandler
import gc
import json
import os
import sys

from . import child, isolation
from .capture import prepare_streams
from .failure import Failure
from .loader import load_program
from .log_records import install_log_records


def start_spawned(boot: dict, order: dict, zygote: int) -> None:
    """In the forked child of the spawning zygote: replaces itself by a fresh interpreter. Never returns."""
    try:
        reader, writer = os.pipe()
        kept = {
            name: value for name, value in boot.items() if name != "variables"
        }  # they are in the environment already
        os.write(
            writer, json.dumps({"boot": kept, "order": order, "zygote": zygote}).encode("ascii")
        )
        os.close(writer)
        os.dup2(reader, 0)
        os.execv(
            sys.executable,
            [
                sys.executable,
                "-I",
                "-X",
                "utf8",
                os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                "spawned",
            ],
        )
    finally:
        os._exit(71)


def main_spawned() -> None:
    given = json.loads(os.read(0, 1 << 20))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    boot, order = given["boot"], given["order"]
    try:
        gc.disable()
        prepare_streams()
        child.prepare_child(boot, order["id"], given["zygote"], isolation.read_data_size())
        child.dial_streams(boot, order["token"])
        faulthandler.enable(2)
        install_log_records()
        loaded = _load(boot["project"])
        child.serve_child(boot, order["token"], loaded)
    except BaseException as error:
        os.write(
            2,
            f"child {order['id']} could not start: {type(error).__name__}: {error}\n".encode(
                "utf-8", "replace"
            ),
        )
    finally:
        os._exit(70)


def _load(project: str):
    """Imports before the request comes; a failure is kept until there is a request to answer."""
    try:
        binder = load_program(project)
    except Failure as failure:
        kept = failure

        def refuse():
            raise kept

        return refuse
    return lambda: binder
