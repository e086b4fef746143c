"""What forked children of this process would share: descriptors, and memory mapped as shared."""

from __future__ import annotations

import fcntl
import os
import socket
import stat

Descriptors = dict[int, tuple[int, int]]
"""Number of a descriptor -> device and inode of what it refers to."""

_O_PATH = 0o10000000
_STREAMS = (1, 2)
"""Each child redirects them (`capture`)."""
_STATELESS_DEVICES = {os.makedev(1, minor) for minor in (3, 5, 7, 8, 9)}
"""null, zero, full, random, urandom: they have no position, and what is written cannot be read."""
_KERNEL_OBJECTS = {
    "[eventpoll]": "An epoll object (an event loop)",
    "[eventfd]": "An eventfd",
    "[timerfd]": "A timerfd",
    "[signalfd]": "A signalfd",
    "[pidfd]": "A pidfd",
    "[io_uring]": "An io_uring",
    "inotify": "An inotify object",
}
_NAME_LIMIT = 200


def list_descriptors() -> Descriptors:
    """All descriptors of this process."""
    found: Descriptors = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            state = os.fstat(int(name))
        except OSError:
            continue  # the one that listed the directory
        found[int(name)] = (state.st_dev, state.st_ino)
    return found


def list_inherited(*own: int) -> Descriptors:
    """The descriptors that were open before the interpreter started, and `own`.

    Start-up hooks of the environment (.pth files) run before the runner. What they opened belongs
    to the project; Python marks it as closed on exec, which an inherited descriptor cannot be.
    """
    return {
        number: identity
        for number, identity in list_descriptors().items()
        if number in own or os.get_inheritable(number)
    }


def close_inherited(*own: int) -> None:
    """Closes what the platform itself was started with and passed on unknowingly, except `own`."""
    for number in list_inherited():
        if number > 2 and number not in own:
            os.close(number)


def find_descriptor(before: Descriptors) -> str | None:
    """Describes the first descriptor that was opened since and would be shared, if any."""
    for number in _list_new(before):
        if not _is_stateless(number) and not _is_reopenable(number):
            return _describe(number)
    return None


def list_reopenable(before: Descriptors) -> list[int]:
    """Files that each child has to open again (`reopen`)."""
    return [number for number in _list_new(before) if _is_reopenable(number)]


def reopen(numbers: list[int]) -> None:
    """Call in a child: opens the same files at the same positions, which it then moves alone."""
    for number in numbers:
        own = os.open(f"/proc/self/fd/{number}", os.O_RDONLY | os.O_CLOEXEC)
        os.lseek(own, os.lseek(number, 0, os.SEEK_CUR), os.SEEK_SET)
        os.dup2(own, number, inheritable=os.get_inheritable(number))
        os.close(own)


def _list_new(before: Descriptors) -> list[int]:
    return [
        number
        for number, identity in sorted(list_descriptors().items())
        if before.get(number) != identity and number not in _STREAMS
    ]


def _is_stateless(number: int) -> bool:
    state = os.fstat(number)
    if stat.S_ISCHR(state.st_mode) and state.st_rdev in _STATELESS_DEVICES:
        return True
    return bool(fcntl.fcntl(number, fcntl.F_GETFL) & _O_PATH) and _is_read_only(number)


def _is_reopenable(number: int) -> bool:
    """Whether only its position is shared: a file open for reading, not writable, not locked."""
    mode = fcntl.fcntl(number, fcntl.F_GETFL) & (os.O_ACCMODE | _O_PATH)
    is_file = stat.S_ISREG(os.fstat(number).st_mode)
    if not is_file or mode != os.O_RDONLY or not _is_read_only(number):
        return False
    with open(f"/proc/self/fdinfo/{number}", encoding="ascii", errors="replace") as state:
        if "lock:" in state.read():
            return False
    return os.access(f"/proc/self/fd/{number}", os.R_OK)


def _is_read_only(place: int | str) -> bool:
    """Whether it lies on a read-only file system: no execution can leave anything there."""
    return bool(os.statvfs(place).f_flag & os.ST_RDONLY)


def find_directory(project: str) -> str | None:
    """The working directory, if the module changed it to one that executions can write."""
    here = os.getcwd()
    return None if here == project or _is_read_only(".") else _clean(here)


def _describe(number: int) -> str:
    target = os.readlink(f"/proc/self/fd/{number}")
    mode = os.fstat(number).st_mode
    if stat.S_ISSOCK(mode):
        return _describe_socket(number)
    if stat.S_ISFIFO(mode):
        return "A pipe"
    kind, _, name = target.partition(":")
    if kind == "anon_inode":
        return _KERNEL_OBJECTS.get(name, f"A kernel object ({_clean(name)})")
    return f"The {'folder' if stat.S_ISDIR(mode) else 'file'} {_clean(target)}"


def _describe_socket(number: int) -> str:
    try:
        with socket.socket(fileno=os.dup(number)) as connection:
            peer = connection.getpeername()
    except OSError:
        return "A socket"
    is_internet = isinstance(peer, tuple) and len(peer) >= 2
    return f"A connection to {_clean(str(peer[0]))}:{peer[1]}" if is_internet else "A socket"


def find_shared_memory() -> str | None:
    """Describes the first mapping that children would share and could write, if any.

    `VmFlags` of a shared mapping has `sh` only if the file behind it may be written (proc(5)), so
    that a file mapped for reading does not count. Takes 3 ms with numpy and scipy loaded (2 busy
    cores).
    """
    name = ""
    with open("/proc/self/smaps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            word, _, rest = line.partition(" ")
            if not word.endswith(":"):
                name = line[73:].strip()
            elif word == "VmFlags:" and "sh" in rest.split():
                return _describe_memory(name)
    return None


def _describe_memory(name: str) -> str:
    if "/sem." in name:
        return "A lock or semaphore of several processes (multiprocessing)"
    return f"Shared memory ({_clean(name) or 'anonymous'})"


def _clean(name: str) -> str:
    """File names may contain anything."""
    text = "".join(letter if letter.isprintable() else "?" for letter in name)
    return text if len(text) <= _NAME_LIMIT else text[: _NAME_LIMIT - 1] + "\u2026"
