"""What the kernel refuses to a child from here on, whatever its user code does.

The last step of its preparation before anything of the version runs in it.
"""

from __future__ import annotations

from . import landlock, seccomp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .messages import Isolation

DEVICES = [f"/dev/{name}" for name in ("full", "null", "random", "tty", "urandom", "zero")]

OWN_MOUNTS = (["/dev"], ["/tmp", "/dev/shm"])
"""In namespaces: /dev has harmless devices only.

/proc is read only: a child that lowered its oom_score_adj would have its siblings killed in its
place where the machine runs out of memory.
"""


class Restrictions:
    """Landlock and a system call filter; the zygote makes them ready once for all its children."""

    __slots__ = ("_filter", "_has_namespaces", "_readable", "_version")

    def __init__(self, isolation: Isolation) -> None:
        program = isolation["filter"]
        self._filter = None if program is None else seccomp.Filter(program)
        self._has_namespaces = isolation["namespaces"]
        self._readable = isolation["landlock"]
        self._version = 0 if self._readable is None else landlock.find_version()

    def apply(self, home: str) -> None:
        """Restricts this thread and all that it starts; `home` is its own folder. Raises OSError.

        The filter comes last: it may refuse what Landlock needs.
        """
        if self._readable is not None and self._version >= landlock.LEAST_VERSION:
            used, owned = OWN_MOUNTS if self._has_namespaces else (DEVICES, [home])
            landlock.Confinement(self._readable, used, owned, version=self._version).enter()
        if self._filter is not None:
            self._filter.install()
