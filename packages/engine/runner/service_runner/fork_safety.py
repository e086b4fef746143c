"""May this process be forked after it imported user code?"""

import os
import sys
import threading

from .kernel import LINUX
from .processes import list_children

_UNSAFE_MODULES = ("grpc", "tensorflow", "jaxlib")
"""They hold threads or locks of their own that a fork breaks, not always visible as threads after import."""


def find_fork_hazard() -> str | None:
    """Why each execution needs a fresh interpreter; None when forking is safe."""
    if not LINUX:
        return "this system does not fork safely after imports"
    loaded = [name for name in _UNSAFE_MODULES if name in sys.modules]
    if loaded:
        return f"the module {loaded[0]} does not survive a fork"
    if threading.active_count() > 1:
        return "a thread was started at import"
    if list_children("self"):
        return "a process was started at import"
    if len(os.listdir("/proc/self/task")) > 1 and not _has_fork_safe_pool():
        return "a native thread was started at import"
    return None


def _has_fork_safe_pool() -> bool:
    """OpenBLAS starts its pool at import and re-creates it after a fork."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        return any("openblas" in line for line in maps)
