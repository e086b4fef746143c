"""What runs at a fork, for children that `kernel.Clone` makes without CPython's own work.

Functions that user code and libraries gave to `os.register_at_fork` run as they would at `os.fork`.
Those of the standard library do not: they renew locks that only another thread could hold, and the
random generator, which `renew` seeds. Not seen are registrations of start-up hooks of the
environment (.pth files), which run before the runner; pthread_atfork(3) is glibc's and is skipped.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    Hook = Callable[[], object]

_LIBRARY = os.path.dirname(os.__file__)
_NEEDLESS = ("logging", "threading", "random", "concurrent.futures.thread")
_before: list[Hook] = []
_in_parent: list[Hook] = []
_in_child: list[Hook] = []


def watch() -> None:
    """Call before the import: registrations are recorded from then on."""
    register: Any = os.register_at_fork

    def register_and_record(**hooks: Hook) -> None:
        register(**hooks)
        if not _is_needless(sys._getframe(1)):
            for name, kept in _LISTS.items():
                if name in hooks:
                    kept.append(hooks[name])

    os.register_at_fork = register_and_record  # type: ignore[assignment]


_LISTS = {"before": _before, "after_in_parent": _in_parent, "after_in_child": _in_child}


def _is_needless(caller: FrameType) -> bool:
    """A module of the project may have the name of one of the standard library."""
    is_library = os.path.dirname(caller.f_code.co_filename).startswith(_LIBRARY)
    return is_library and caller.f_globals.get("__name__") in _NEEDLESS


def prepare() -> None:
    """Call before `kernel.Clone`."""
    for hook in reversed(_before):
        _run(hook)


def resume() -> None:
    """Call in the parent after it, also when it failed."""
    for hook in _in_parent:
        _run(hook)


def renew() -> None:
    """Call in the child."""
    random: Any = sys.modules.get("random")
    if hasattr(random, "_inst"):
        random._inst.seed()
    threading: Any = sys.modules.get("threading")
    if threading is not None:
        threading.main_thread()._set_native_id()
    for hook in _in_child:
        _run(hook)


def _run(hook: Hook) -> None:
    """As CPython does: an exception is shown, and stops nothing."""
    try:
        hook()
    except BaseException:
        sys.excepthook(*sys.exc_info())
