"""OpenBLAS (numpy, scipy) starts its threads when it is loaded, which is at import.

It is loaded with one thread, which starts none: whatever thread is found after the import is then somebody else's. Each
child gets as many as the version has vCPUs, before the request comes (0.1 ms for two; numpy and scipy of PyPI, Debian's).
"""

import ctypes
import os

from .kernel import LINUX

_VARIABLE = "OPENBLAS_NUM_THREADS"
_ONE = "01"
"""OpenBLAS reads it as 1. Nobody else writes it so: anything else that stands there after the import, user code has chosen."""
_SETTERS = tuple(
    f"{prefix}openblas_set_num_threads{suffix}"
    for prefix in ("", "scipy_")
    for suffix in ("", "64_")
)


def hold_back() -> str | None:
    """Call before the import; gives back what `release` needs."""
    wanted = os.environ.get(_VARIABLE)
    os.environ[_VARIABLE] = _ONE
    return wanted


def release(wanted: str | None) -> None:
    """Call after the import: what is loaded later starts as many threads as it should. What user code chose stays."""
    if os.environ.get(_VARIABLE) != _ONE:
        return
    if wanted is None:
        os.environ.pop(_VARIABLE, None)
    else:
        os.environ[_VARIABLE] = wanted


def find_setters() -> list:
    """Functions of the libraries that are loaded, to be called in a child with the number of threads."""
    if not LINUX:
        return []
    setters = {}
    for path in _list_libraries():
        try:
            library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        except OSError:
            continue  # a file that is mapped, but no library
        for name in _SETTERS:
            setter = getattr(library, name, None)
            if setter is not None:
                setters[ctypes.cast(setter, ctypes.c_void_p).value] = setter
    return list(setters.values())


def _list_libraries() -> set[str]:
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        return {line[73:].rstrip("\n") for line in maps if "blas" in line[73:]}


def start_threads(setters: list) -> None:
    """In a child."""
    wanted = os.environ.get(_VARIABLE, "")
    if wanted.isascii() and wanted.isdigit() and int(wanted) > 1:
        for setter in setters:
            setter(int(wanted))
