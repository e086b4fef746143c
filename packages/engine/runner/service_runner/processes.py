"""The zygote's view of the processes below it: which belong to a living execution, and the end of all others."""

import os
import signal
import time

from .kernel import LINUX


def list_children(pid: int | str) -> list[int]:
    """Direct children of all threads of a process; empty when it is gone."""
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", "rb") as children:
                found += map(int, children.read().split())
    except OSError:
        pass
    return found


def list_descendants(pid: int | str) -> list[int]:
    found = list_children(pid)
    for child in found:  # grows while it is walked
        if len(found) < 100_000:
            found += list_children(child)
    return found


def send_signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        pass


def signal_group(leader: int, number: int) -> None:
    try:
        os.killpg(leader, number)
    except OSError:
        pass


def kill_tree(leader: int) -> None:
    """SIGKILL to a session leader, its process group and everything below, wherever that moved to.

    The group is stopped first, which no fork escapes: the walk over 256 processes that all want the processor
    would get a 257th part of it, and take seconds.
    """
    signal_group(leader, signal.SIGSTOP)
    below = list_descendants(leader) if LINUX else []
    signal_group(leader, signal.SIGKILL)
    send_signal(leader, signal.SIGKILL)
    for pid in below:
        send_signal(pid, signal.SIGKILL)


def kill_strays(leaders: set[int], leaving: set[int]) -> set[int]:
    """Kills what landed at the zygote (their subreaper) and belongs to no living execution.

    `leaders` are the session leaders of living executions: an orphan that is still in such a session may live on,
    one that left it may not. Returns which of `leaving` (ended executions) may still have processes.
    """
    if not LINUX:
        return set()
    strays = [pid for pid in list_children("self") if pid not in leaders]
    remaining = set()
    for pid in strays:
        try:
            session = os.getsid(pid)
        except OSError:
            continue
        if session in leaders:
            continue
        remaining |= {session} if session in leaving else leaving
        # What is below it lands here when it dies, and is judged then: walking down for each of 256 that die one by
        # one took seconds.
        send_signal(pid, signal.SIGKILL)
    return remaining


def kill_everything(limit_seconds: float) -> None:
    """Before the zygote ends by itself: nothing stays behind, not even what left its session.

    Repeated, because what forks without end is faster than one look; bounded, because a pid namespace ends the rest anyway.
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
