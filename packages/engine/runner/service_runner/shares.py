"""What the kernel counts for each user, divided among the children of a version, which are one.

In a user namespace of its own a child is counted there as well, so that it can be bounded: none
takes from its siblings what the user has. Without namespaces there is one count for all.
"""

from __future__ import annotations

import resource

_WATCHING = ("instances", "watches")


def list_limits(children: int) -> list[tuple[int, tuple[int, int]]]:
    """Of signals that wait, and of timers, for one child: as of `isolation.list_limits`.

    Only for a child with a user namespace: with one count for all, a low limit would be reached by
    what its siblings have.
    """
    _, most = resource.getrlimit(resource.RLIMIT_SIGPENDING)
    if most == resource.RLIM_INFINITY:
        return []
    return [(resource.RLIMIT_SIGPENDING, (_divide(most, children),) * 2)]


def list_files(children: int) -> list[tuple[str, bytes]]:
    """What a child writes to which files of its namespaces: bounds of what inotify(7) gives it."""
    found = []
    for name in _WATCHING:
        try:
            with open(f"/proc/sys/fs/inotify/max_user_{name}", "rb") as file:
                most = int(file.read())
        except FileNotFoundError:
            continue  # a kernel without inotify
        share = str(_divide(most, children)).encode()
        found.append((f"/proc/sys/user/max_inotify_{name}", share))
    return found


def _divide(most: int, children: int) -> int:
    return max(1, most // max(1, children))
