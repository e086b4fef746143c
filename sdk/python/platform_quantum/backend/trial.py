"""Lets a copy of this process read what a stranger has sent, before this process does.

A parser in native code that is led to allocate gigabytes ends its process, by no exception; another
one is at work for hours, and nothing interrupts it. So the copy goes first. What ends it is told as
a refusal, and where it comes through, this process reads the same once more: a copy costs
milliseconds, and a circuit of 100,000 operations in QPY a tenth of a second.
"""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING, NoReturn

from .failures import CIRCUIT_INVALID, CIRCUIT_TOO_LARGE, BackendFailure

if TYPE_CHECKING:
    from collections.abc import Callable

_TASKS = "/proc/self/task"
_CHUNK = 1 << 16


def read_in_copy(read: Callable[[], object], seconds: int) -> None:
    """Returns if a copy of this process has come to an end of `read`, whatever it has raised.

    Where this process has several threads, which no copy would have, or cannot be copied, nothing
    is tried. So it is in a test, say, and never on the platform for programs that start no thread.

    :raises BackendFailure: that of `read`; CIRCUIT_TOO_LARGE: it took more than so many seconds of
        a processor; CIRCUIT_INVALID: it has ended the copy
    """
    if not _can_copy():
        return
    reader, writer = os.pipe()
    try:
        pid = os.fork()
    except OSError:  # as many processes as it may have
        os.close(reader)
        os.close(writer)
        return
    if pid == 0:
        _answer(read, seconds, writer)
    os.close(writer)
    try:
        answer = _receive(reader)
    finally:
        os.close(reader)
        _, status = os.waitpid(pid, 0)
    _judge(answer, os.waitstatus_to_exitcode(status), seconds)


def _can_copy() -> bool:
    try:
        return len(os.listdir(_TASKS)) == 1
    except OSError:  # no Linux
        return False


def _answer(read: Callable[[], object], seconds: int, writer: int) -> NoReturn:
    """In the copy, which returns from here in no case."""
    try:
        _prepare(seconds)
        read()
    except BackendFailure as failure:
        _tell(failure, writer)
    except MemoryError:
        _tell(BackendFailure(CIRCUIT_TOO_LARGE, "The circuits take too much memory."), writer)
    except BaseException:
        pass  # this happens to the process itself as well, where it can be told
    finally:
        os._exit(0)


def _tell(failure: BackendFailure, writer: int) -> None:
    text = json.dumps({"code": failure.code, "detail": failure.detail}).encode("ascii")
    while text:
        text = text[os.write(writer, text) :]


def _prepare(seconds: int) -> None:
    import faulthandler
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    limit = seconds if most == resource.RLIM_INFINITY else min(seconds, most)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, most))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    # What is said at the end of a parser is of the host; what it says otherwise it says again.
    faulthandler.disable()
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)


def _receive(reader: int) -> bytes:
    parts = []
    while part := os.read(reader, _CHUNK):
        parts.append(part)
    return b"".join(parts)


def _judge(answer: bytes, status: int, seconds: int) -> None:
    if status == -signal.SIGXCPU:
        detail = f"The circuits take more than {seconds} seconds of a processor to be read."
        raise BackendFailure(CIRCUIT_TOO_LARGE, detail)
    if status != 0:
        ended = signal.Signals(-status).name if status < 0 else f"status {status}"
        detail = (
            f"What reads the circuits was ended by them ({ended}): they claim more than there is "
            "memory for, or its parser fails at them."
        )
        raise BackendFailure(CIRCUIT_INVALID, detail)
    if answer:
        failure = json.loads(answer)
        raise BackendFailure(failure["code"], failure["detail"])
