"""What the kernel refuses to a child from here on, whatever its user code does.

The last step of its preparation before anything of the version runs in it.
"""

from __future__ import annotations

import os

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

    __slots__ = ("_confinement", "_filter", "_opened", "_readable", "_version")

    def __init__(self, isolation: Isolation) -> None:
        program = isolation["filter"]
        self._filter = None if program is None else seccomp.Filter(program)
        readable = isolation["landlock"]
        self._version = 0 if readable is None else landlock.find_version()
        if self._version < landlock.LEAST_VERSION:
            readable = None
        self._readable = readable
        self._opened = isolation["opened"]
        self._confinement = (
            landlock.Confinement(readable, *OWN_MOUNTS, version=self._version)
            if readable is not None and isolation["namespaces"]
            else None
        )

    def apply(self) -> None:
        """Restricts this thread and all that it starts; HOME is its own folder. Raises OSError.

        The filter comes last: it may refuse what Landlock needs.
        """
        if self._confinement is not None:
            self._confinement.enter()
        elif self._readable is not None:
            home = os.environ["HOME"]
            landlock.Confinement(
                self._readable, DEVICES, [home], opened=self._opened, version=self._version
            ).enter()
        if self._filter is not None:
            self._filter.install()
