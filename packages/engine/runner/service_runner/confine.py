"""The launcher of a zygote where user namespaces are refused (isolation level C).

Trusted code: the base installation's interpreter runs it (`-I -S`, standard library only) before
anything of the version is loaded. It splits in two. One process gives up its rights and becomes the
version's interpreter. The other stays behind as the warden of the version's processes: it adopts
those whose parents have ended, and ends all of them on SIGTERM, with Node, or when the interpreter
has ended. The filter of the version keeps it from the warden's limits and priority, and before
Linux 6.12, where Landlock judges no signals, from sending it any.

A third process, the steward, connects the version's executions to Node: the version itself may make
no sockets that reach others, since it can name those of the host. It also removes the folders of
executions that have ended, whose names the version must not know. The version is of the same user
and can set the steward's limits, whose threads no filter could name: the version ends with it.

The warden puts itself and all that it starts under one Landlock domain. A signal to every process
(kill(2) with -1) then reaches these alone, and none of them can fork away from it. The interpreter
is in a domain below, and cannot signal the warden.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import socket

from . import isolation, kernel, landlock, processes
from .home import LINE, Home, serve_distant
from .seccomp import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from .messages import ConfineOrder

STATUS = 4
SCRATCH = 5
"""Descriptor of the parent of the folders of executions, which their user may not list."""
BEGUN = b"begun\n"
"""Written to descriptor 4 when the interpreter was executed."""
_END_SECONDS = 4.0
_REFUSED = 126
_MANY = 65_536


def main_confine(text: str) -> NoReturn:
    """Everything from the start of the interpreter to the end of the process."""
    order: ConfineOrder = json.loads(text)
    kernel.hide_session_keyring()
    kernel.set_process_option(kernel.PR_SET_NO_NEW_PRIVS, 1)
    signals = {signal.SIGCHLD, signal.SIGTERM}
    # Blocked signals wait for sigwait: none is lost between two calls.
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    kernel.set_process_option(kernel.PR_SET_PDEATHSIG, signal.SIGTERM)
    kernel.set_process_option(kernel.PR_SET_CHILD_SUBREAPER, 1)
    if os.getppid() != order["parent"]:
        os._exit(0)  # Node ended before the lines above
    landlock.keep_signals()  # where the kernel cannot, `is_alone` matters
    alone = is_alone(order["parent"])
    home = Home(order["home"])
    os.set_inheritable(SCRATCH, False)
    line, others = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    steward = os.fork()
    if steward == 0:
        _serve(line, home)
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become(order, others.fileno(), writer)
    _close_all_but(STATUS, reader)
    # The end of the file without a byte: execve(2) has closed the writer.
    if os.read(reader, 1) == b"":
        os.write(STATUS, BEGUN)
    _close_all_but()
    os._exit(_guard(pid, steward, signals, alone=alone))


def _serve(line: socket.socket, home: Home) -> NoReturn:
    """The steward, until the version's end of the line is closed or the warden has ended."""
    try:
        kernel.set_process_option(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        _close_all_but(SCRATCH, line.fileno(), *home.list_descriptors())
        serve_distant(line, home, SCRATCH)
    finally:
        os._exit(0)


def _become(order: ConfineOrder, line: int, writer: int) -> NoReturn:
    """In the child: gives up its rights and becomes the command. Says on stderr why it cannot."""
    try:
        os.dup2(line, LINE)  # in the place of STATUS
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.setsid()  # a signal to its own group must not reach the warden
        isolation.limit_core()
        limit_processes(order["processes"])
        os.chdir(order["directory"])
        isolation.die_first()
        landlock.Confinement(
            order["readable"], order["used"], order["owned"], opened=order["opened"]
        ).enter()
        Filter(order["filter"]).install()
        os.execv(order["command"][0], order["command"])
    except BaseException as error:
        os.write(2, f"the version cannot be confined: {error}\n".encode())
        os.write(writer, b"!")
    finally:
        os._exit(_REFUSED)


def limit_processes(step: int) -> None:
    """Lets the user of this process have `step` to twice as many processes and threads more.

    The kernel counts them for each user of the host, also in containers that are not seen from
    here, and does not tell the number: it is found by trying. What this process starts inherits the
    limit and cannot raise it.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    most = _MANY if hard == resource.RLIM_INFINITY else hard
    for limit in range(step, most, step):
        resource.setrlimit(resource.RLIMIT_NPROC, (limit, hard))
        if _can_fork():
            bound = min(limit + step, most)
            resource.setrlimit(resource.RLIMIT_NPROC, (bound, bound))
            return
    resource.setrlimit(resource.RLIMIT_NPROC, (most, most))


def _can_fork() -> bool:
    try:
        pid = os.fork()
    except BlockingIOError:
        return False
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return True


def _close_all_but(*kept: int) -> None:
    """Node waits until nobody holds the version's streams and descriptors any more."""
    first = 1
    for descriptor in sorted(kept):
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, os.sysconf("SC_OPEN_MAX"))


def _guard(pid: int, steward: int, signals: set[signal.Signals], *, alone: bool) -> int:
    """Waits until the version shall end or one of the two processes has, and ends what is left.

    Returns the exit code of the interpreter, for a signal 128 and its number.
    """
    code = None
    while code is None:
        if signal.sigwait(signals) == signal.SIGTERM:
            code = 128 + signal.SIGKILL
        while code is None and (ended := os.waitpid(-1, os.WNOHANG))[0] != 0:
            if ended[0] == pid:
                code = os.waitstatus_to_exitcode(ended[1])
            elif ended[0] == steward:
                # An interpreter that is ending already, as the steward sees first, keeps its code.
                os.kill(pid, signal.SIGKILL)
    _end_all(alone=alone)
    return code if code >= 0 else 128 - code


def _end_all(*, alone: bool) -> None:
    """Ends and reaps all that this process has started, directly or not."""
    if not alone:
        processes.kill_everything(_END_SECONDS)
        return
    try:
        while True:
            os.kill(-1, signal.SIGKILL)
            os.waitpid(-1, 0)
    except (ChildProcessError, ProcessLookupError):
        return


def is_alone(node: int) -> bool:
    """Whether a signal to every process reaches none but those started here, by trying it.

    Where Node has the same user, Landlock alone keeps the signal from it; where Node is root, the
    user belongs to this version alone. To be asked while Node lives: the process that adopts its
    orphans may be root's, and would say nothing of the other processes of this user.
    """
    if os.getuid() == 0:
        return False
    try:
        os.kill(node, 0)
    except PermissionError:
        return os.getppid() == node
    except ProcessLookupError:
        return False
    return False
