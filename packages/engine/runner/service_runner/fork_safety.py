"""Decides whether this process may be forked after it imported user code.

A fork shares what the module opened at import: open files with their offsets, sockets, memory
mapped as shared. One execution would then read what another left there. A fork does not copy
threads, so that the locks they held stay locked. If any of this is found, each execution gets a
fresh interpreter instead, which imports the module itself.
"""

import os
import sys
import threading
import time

from . import opened
from .kernel import LINUX
from .processes import list_children

_UNSAFE_MODULES = ("grpc", "tensorflow", "jaxlib")
"""A fork breaks their threads and locks, which are not always visible as threads after import."""

_THREAD_END_SECONDS = 0.1
"""A joined thread has ended for Python a moment before it has for the kernel."""


def find_fork_hazard(before: opened.Descriptors, project: str) -> str | None:
    """Why each execution needs a fresh interpreter, with the remedy, as a sentence; else None.

    `before` lists what was open when the import began; `project` was the working directory then.
    """
    if not LINUX:
        return "This system does not fork safely after imports."
    loaded = [name for name in _UNSAFE_MODULES if name in sys.modules]
    if loaded:
        return _advise(f"The module {loaded[0]} does not survive a fork", "import")
    return (
        _find_held(before, project)
        or _rehearse_fork()
        or _find_held(before, project)
        or _find_memory()
    )


def _find_held(before: opened.Descriptors, project: str) -> str | None:
    if threading.active_count() > 1:
        return _advise("A thread was started at import and still runs", "start")
    if list_children("self"):
        return _advise("A process was started at import", "start")
    if _has_native_thread():
        return _advise("A native thread was started at import and still runs", "start")
    descriptor = opened.find_descriptor(before)
    if descriptor is not None:
        return _advise(f"{descriptor} is still open after the import", "open")
    directory = opened.find_directory(project)
    if directory is not None:
        return _advise(f"The working directory was changed to {directory} at import", "change")
    return None


def _find_memory() -> str | None:
    memory = opened.find_shared_memory()
    return None if memory is None else _advise(f"{memory} was created at import", "create")


def _rehearse_fork() -> str | None:
    """Forks once, because the module may have functions that run at each fork.

    (`os.register_at_fork`, pthread_atfork(3).) What they open in this process is found afterwards,
    like what the import opened. A thread that they start in the child is found in the child: with
    it, no execution could have namespaces of its own.
    """
    try:
        pid = os.fork()
    except OSError:
        return None  # the first execution will report why
    if pid == 0:
        os._exit(len(os.listdir("/proc/self/task")) > 1)
    _, status = os.waitpid(pid, 0)
    if status == 0:
        return None
    return _advise("A thread is started, or the process ended, at each fork", "do")


def _advise(found: str, verb: str) -> str:
    return f"{found}; {verb} it inside run() to get fast starts."


def _has_native_thread() -> bool:
    end = time.monotonic() + _THREAD_END_SECONDS
    while len(os.listdir("/proc/self/task")) > 1:
        if time.monotonic() > end:
            return True
        time.sleep(0.001)
    return False
