"""The few system calls that Python 3.11 does not offer.

On other systems than Linux, `set_process_option` and `hide_session_keyring` do nothing, and the
others are not called.
"""

import os
import sys

LINUX = sys.platform == "linux"
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC = 0x2, 0x4, 0x1000, 0x4000
_CAPABILITY_VERSION_3 = 0x20080522
_KEYCTL = {"x86_64": 250, "aarch64": 219}
_KEYCTL_JOIN_SESSION_KEYRING, _KEYCTL_SETPERM = 1, 5

if LINUX:
    import ctypes

    _libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, name: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")


def set_process_option(option: int, value: int) -> None:
    """prctl(2); raises OSError."""
    if LINUX:
        _check(_libc.prctl(option, value, 0, 0, 0), "prctl")


def unshare(flags: int) -> None:
    """unshare(2); raises OSError."""
    _check(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str, flags: int, options: str) -> None:
    """mount(2); raises OSError."""
    names = (source.encode(), target.encode(), kind.encode())
    _check(_libc.mount(*names, ctypes.c_ulong(flags), options.encode()), "mount")


def hide_session_keyring() -> None:
    """Replaces the session keyring by one that no process may write or search (keyrings(7)).

    systemd, `keyctl session` and logins give a keyring to the platform, which all processes that it
    starts would share: every execution of every version could read and write the same keys.
    """
    number = _KEYCTL.get(os.uname().machine) if LINUX else None
    if number is None:
        return
    keyring = _libc.syscall(number, _KEYCTL_JOIN_SESSION_KEYRING, None)
    if keyring > 0:
        _libc.syscall(number, _KEYCTL_SETPERM, keyring, 0)


def drop_capabilities() -> None:
    """Empties all capability sets; raises OSError.

    With no_new_privs, which the sandbox sets, none can be regained in this namespace.
    """
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    _check(_libc.capset(header, (ctypes.c_uint32 * 6)()), "capset")
