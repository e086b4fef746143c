"""The few system calls that Python 3.11 does not offer.

On other systems than Linux, `set_process_option` and `hide_session_keyring` do nothing, and the
others are not called.
"""

import errno
import os
import sys

LINUX = sys.platform == "linux"
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2
CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
_PR_GET_TID_ADDRESS = 40
_CLONE_CHILD_CLEARTID, _CLONE_CHILD_SETTID = 0x00200000, 0x01000000
_SIGCHLD = 17
_MADV_COLLAPSE = 25
_CLONE = {"x86_64": 56, "aarch64": 220}
_KEYCTL = {"x86_64": 250, "aarch64": 219}
_KEYCTL_JOIN_SESSION_KEYRING, _KEYCTL_SETPERM = 1, 5

if LINUX:
    import ctypes

    _libc = ctypes.PyDLL(None, use_errno=True)
    """Keeps the interpreter's lock during a call: releasing it costs a child pages of its own."""
    # Made here: looking up functions and making types would cost each child 0.1 ms and more.
    _prctl, _syscall, _madvise = _libc.prctl, _libc.syscall, _libc.madvise


def _check(result: int, name: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")


def set_process_option(option: int, value: int) -> None:
    """prctl(2); raises OSError."""
    if LINUX:
        _check(_prctl(option, value, 0, 0, 0), "prctl")


class Clone:
    """A fork into new namespaces, made ready for the thread that makes this object.

    The system call alone: what CPython and glibc do around a fork (0.55 ms of processor time) is
    for processes with several threads. The caller has one, so that every lock is as the copy needs
    it; what is left to do is in `at_fork`. The kernel writes the child's thread id where glibc
    keeps it: recursive locks compare it.
    """

    __slots__ = ("_arguments",)

    def __init__(self, flags: int) -> None:
        """Raises OSError."""
        machine = os.uname().machine
        number = _CLONE.get(machine)
        if number is None:
            raise OSError(errno.ENOSYS, f"no executions are isolated on {machine}")
        address = ctypes.c_ulong()
        _check(_prctl(_PR_GET_TID_ADDRESS, ctypes.byref(address), 0, 0, 0), "prctl: tid address")
        # The order of the last two differs between machines; neither flag reads the one that is 0.
        last = (address, ctypes.c_ulong()) if machine == "x86_64" else (ctypes.c_ulong(), address)
        word = ctypes.c_ulong(flags | _CLONE_CHILD_SETTID | _CLONE_CHILD_CLEARTID | _SIGCHLD)
        self._arguments = (number, word, ctypes.c_ulong(), ctypes.c_ulong(), *last)

    def make(self) -> int:
        """The child's process id, and 0 in the child; raises OSError."""
        pid: int = _syscall(*self._arguments)
        _check(min(pid, 0), "clone")
        return pid


def collapse_pages(start: int, size: int) -> bool:
    """madvise(2) with MADV_COLLAPSE, since Linux 6.1; whether it was done."""
    return bool(_madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), _MADV_COLLAPSE) == 0)


def call(number: int, *arguments: int | bytes | None) -> int:
    """A system call that libc has no function for; raises OSError."""
    result: int = _syscall(number, *arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"system call {number}: {os.strerror(code)}")
    return result


def install_filter(program: bytes) -> None:
    """Adds a system call filter, a struct sock_fprog (seccomp(2)); raises OSError.

    The process must have no_new_privs.
    """
    mode = ctypes.c_ulong(_SECCOMP_MODE_FILTER)
    _check(_prctl(_PR_SET_SECCOMP, mode, program, 0, 0), "prctl: seccomp")


def hide_session_keyring() -> None:
    """Replaces the session keyring by one that no process may write or search (keyrings(7)).

    systemd, `keyctl session` and logins give a keyring to the platform, which all processes that it
    starts would share: every execution of every version could read and write the same keys.
    """
    number = _KEYCTL.get(os.uname().machine) if LINUX else None
    if number is None:
        return
    keyring = _syscall(number, _KEYCTL_JOIN_SESSION_KEYRING, None)
    if keyring > 0:
        _syscall(number, _KEYCTL_SETPERM, keyring, 0)
