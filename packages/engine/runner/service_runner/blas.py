"""Keeps OpenBLAS (numpy, scipy) from starting threads at import, and starts them in each child.

OpenBLAS starts its threads when it is loaded. It is loaded with one thread, which starts none, so
that any thread found after the import was started by something else. Each child then gets as many
as the version has vCPUs, before the request arrives (0.1 ms for two; numpy and scipy from PyPI and
from Debian).
"""

from __future__ import annotations

import ctypes
import os

from .kernel import LINUX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Setter = Callable[[int], Any]

_VARIABLE = "OPENBLAS_NUM_THREADS"
_ONE = "01"
"""OpenBLAS reads it as 1. No other program writes it so: another value is from user code."""
_SETTERS = tuple(
    f"{prefix}openblas_set_num_threads{suffix}"
    for prefix in ("", "scipy_")
    for suffix in ("", "64_")
)
_MAPS_PATH_COLUMN = 73
"""Where the path begins in a line of /proc/self/maps (proc(5))."""


def hold_back() -> str | None:
    """Call before the import; returns the previous value, which `release` needs."""
    wanted = os.environ.get(_VARIABLE)
    os.environ[_VARIABLE] = _ONE
    return wanted


def release(wanted: str | None) -> None:
    """Call after the import: libraries loaded later start their usual number of threads.

    A number that user code set itself stays.
    """
    if os.environ.get(_VARIABLE) != _ONE:
        return
    if wanted is None:
        os.environ.pop(_VARIABLE, None)
    else:
        os.environ[_VARIABLE] = wanted


def find_setters() -> list[Setter]:
    """The functions of the loaded libraries that set the number of threads, for `start_threads`."""
    if not LINUX:
        return []
    setters: dict[int | None, Setter] = {}
    for path in _list_libraries():
        try:
            library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        except OSError:
            continue  # a file that is mapped but is no library
        for name in _SETTERS:
            setter = getattr(library, name, None)
            if setter is not None:
                setters[ctypes.cast(setter, ctypes.c_void_p).value] = setter
    return list(setters.values())


def _list_libraries() -> set[str]:
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        paths = (line[_MAPS_PATH_COLUMN:].rstrip("\n") for line in maps)
        return {path for path in paths if "blas" in path}


def start_threads(setters: Iterable[Setter]) -> None:
    """Call in a child: starts as many threads as the environment asks for."""
    wanted = os.environ.get(_VARIABLE, "")
    if wanted.isascii() and wanted.isdigit() and int(wanted) > 1:
        for setter in setters:
            setter(int(wanted))
