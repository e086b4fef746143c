"""For external backends (`"external": true` in platform.json): what a run has begun elsewhere."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Cancelled(BaseException):
    """The execution was cancelled, or its time is over: it has 15 seconds to end."""

    code = "CANCELLED"
    detail = "The execution was cancelled."


def keep_handle(handle: str) -> None:
    """Keeps a text, such as the id of a job elsewhere, and returns when it is stored durably.

    It takes the place of one before. When the worker is lost, the execution has another attempt,
    which gets it by `get_handle`. Printable ASCII, at most 4096 characters; 100 times in a run, and
    no more than once a second after the first ones.

    Raises ValueError for another text, and OSError where it could not be stored. Outside of a run
    of an external backend it does nothing.
    """
    external = _find_external()
    if external is not None:
        external.keep(handle)


def get_handle() -> str | None:
    """The last handle that was kept, by this attempt or one before it; None: there is none."""
    external = _find_external()
    return None if external is None else external.handle


def was_lost() -> bool:
    """Whether the worker of an attempt before was lost.

    Without a handle, it may have begun something all the same. Where that cannot be found out,
    raise an exception with the code WORKER_LOST: the execution ends as UNKNOWN.
    """
    external = _find_external()
    return external is not None and external.was_lost


class cancellable:
    """Inside, a cancellation raises `Cancelled`, once; one that has come before does so at once.

    Outside, nothing is interrupted. For the main thread, and not to be nested.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        runtime = _find_runtime()
        if runtime is not None:
            runtime.cancellation.open(Cancelled())

    def __exit__(self, *_: object) -> None:
        runtime = _find_runtime()
        if runtime is not None:
            runtime.cancellation.close()


def _find_runtime() -> Any:
    """That of the process of a run, by the name that only a run has; None elsewhere."""
    return sys.modules.get("service_runner.external")


def _find_external() -> Any:
    runtime = _find_runtime()
    return None if runtime is None else runtime.get_external()
