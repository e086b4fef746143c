"""Input by reference: files that Node has put where this process can open them.

The folder's name is in the request, and known to no other process here: its parent shows no names.
"""

from __future__ import annotations

import mmap
import os

from .failure import Failure
from .pinned_pool import PinnedOutput, PinnedPool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .messages import InputFiles, OutputPool


def read_input(files: InputFiles, name: str) -> str:
    """The part of the file `name` that the request names, decoded.

    Mapped, so that the text is the only copy in memory. Raises Failure where the file cannot be
    read, UnicodeDecodeError where it is not UTF-8.
    """
    try:
        return _read(os.path.join(files["folder"], name), *files["parts"][name])
    except OSError as error:
        reason = error.strerror or str(error)
        detail = f"The content of {name}Ref could not be read: {reason}."
        raise Failure("DATA_REFERENCE_UNAVAILABLE", detail) from None


def place_pools(files: InputFiles, values: dict[str, Any]) -> None:
    """Puts each data pool in the place of the value of the input that names it."""
    for number, pool in enumerate(files["pools"]):
        folder = os.path.join(files["folder"], f"pool-{number}")
        pinned = PinnedPool(pool["id"], folder, dict(pool["files"]))
        _place(values, pool["path"], pinned)


def place_output(pool: OutputPool, folder: str, values: dict[str, Any]) -> None:
    """Makes the folder of the output pool, and puts it in the place of the value that names it."""
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        pass  # the module was imported by this process, and has made it: only a folder is read
    _place(values, pool["path"], PinnedOutput(pool["id"], folder))


def _place(values: dict[str, Any], path: list[str], pinned: PinnedPool | PinnedOutput) -> None:
    name, *members = path
    if members:
        values[name][members[0]] = pinned
    else:
        values[name] = pinned


def _read(path: str, offset: int, length: int) -> str:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        if os.fstat(descriptor).st_size < offset + length:
            raise OSError("it is shorter than it was")
        if length == 0:
            return ""
        with (
            mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ) as content,
            memoryview(content) as whole,
            whole[offset : offset + length] as wanted,
        ):
            return str(wanted, "utf-8")
    finally:
        os.close(descriptor)
