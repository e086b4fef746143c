"""The few system calls that Python 3.11 does not offer; on other systems than Linux they do nothing."""

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
    if LINUX:
        _check(_libc.prctl(option, value, 0, 0, 0), "prctl")


def unshare(flags: int) -> None:
    _check(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str, flags: int, options: str) -> None:
    _check(
        _libc.mount(
            source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode()
        ),
        "mount",
    )


def hide_session_keyring() -> None:
    """A session keyring that nobody may write or search (keyrings(7)) in the place of the one that was inherited.

    systemd, `keyctl session` and logins give one to the platform, which would be shared by all that it starts: every
    execution of every version could read and write the same keys.
    """
    number = _KEYCTL.get(os.uname().machine) if LINUX else None
    if number is None:
        return
    keyring = _libc.syscall(number, _KEYCTL_JOIN_SESSION_KEYRING, None)
    if keyring > 0:
        _libc.syscall(number, _KEYCTL_SETPERM, keyring, 0)


def drop_capabilities() -> None:
    """All sets to zero; with no_new_privs (set by the sandbox) nothing can be gained again in this namespace."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    _check(_libc.capset(header, (ctypes.c_uint32 * 6)()), "capset")
