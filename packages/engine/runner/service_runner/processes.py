"""The processes below the zygote: kills those that belong to no live execution.

Without namespaces this is what ends the processes of an execution. In them, the kernel does.
"""

from __future__ import annotations

import os
import signal
import time

from .kernel import LINUX

_MAX_LISTED = 100_000


def list_children(pid: int | str) -> list[int]:
    """Direct children of all threads of a process; empty when it has ended."""
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", "rb") as children:
                found += map(int, children.read().split())
    except OSError:
        pass
    return found


def list_descendants(pid: int | str) -> list[int]:
    """Children, their children and so on; bounded, as they may be created faster than listed."""
    found = list_children(pid)
    for child in found:  # grows while it is walked
        if len(found) < _MAX_LISTED:
            found += list_children(child)
    return found


def send_signal(pid: int, number: int) -> None:
    """Does nothing if the process has ended."""
    try:
        os.kill(pid, number)
    except OSError:
        pass


def is_catching(pid: int, number: int) -> bool:
    """Whether a process has a handler for a signal; pid 1 of a namespace gets no other."""
    try:
        with open(f"/proc/{pid}/status", "rb") as status:
            caught = next(line for line in status if line.startswith(b"SigCgt:"))
    except (OSError, StopIteration):
        return False
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)


def reclaim_child_signal() -> None:
    """Takes back what user code did to SIGCHLD at import.

    Where it is ignored, or a handler reaps all children, the zygote would miss how its own end;
    where it is blocked, it would hear of that late.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})


def signal_group(leader: int, number: int) -> None:
    """Does nothing if the process group has ended."""
    try:
        os.killpg(leader, number)
    except OSError:
        pass


def kill_tree(leader: int) -> None:
    """SIGKILL to a session leader, its process group and all descendants, even in other sessions.

    The group is stopped first, which no fork escapes: listing 256 processes while all of them run
    would get a 257th of the processor, and take seconds.
    """
    signal_group(leader, signal.SIGSTOP)
    below = list_descendants(leader) if LINUX else []
    signal_group(leader, signal.SIGKILL)
    send_signal(leader, signal.SIGKILL)
    for pid in below:
        send_signal(pid, signal.SIGKILL)


def kill_strays(leaders: set[int], leaving: set[int]) -> set[int]:
    """Kills the orphans that the zygote adopted (as subreaper), except those of live executions.

    `leaders` are the session leaders of live executions: an orphan in one of their sessions stays,
    one that left it is killed. Returns which of `leaving` (ended executions) may still have
    processes.
    """
    if not LINUX:
        return set()
    strays = [pid for pid in list_children("self") if pid not in leaders]
    remaining: set[int] = set()
    for pid in strays:
        try:
            session = os.getsid(pid)
        except OSError:
            continue
        if session in leaders:
            continue
        remaining |= {session} if session in leaving else leaving
        # Its children are adopted when it dies, and are found then: listing the descendants of each
        # of 256 processes that die one by one took seconds.
        send_signal(pid, signal.SIGKILL)
    return remaining


def kill_everything(limit_seconds: float) -> None:
    """Kills all descendants, even in other sessions, before the zygote ends by itself.

    Repeated, because a process that keeps forking is faster than one listing; bounded, because the
    end of the pid namespace kills the rest anyway.
    """
    end = time.monotonic() + limit_seconds
    while time.monotonic() < end:
        below = list_descendants("self") if LINUX else []
        for pid in below:
            send_signal(pid, signal.SIGKILL)
        if not _reap_all():
            return
        time.sleep(0.001)


def _reap_all() -> bool:
    """Whether children are left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True
