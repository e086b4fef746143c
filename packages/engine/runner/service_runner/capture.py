"""stdout and stderr of an execution, taken over at descriptor level.

The descriptors themselves lead to Node, so C libraries and subprocesses are captured too. A line that begins with
MARK and one letter says its severity; an unmarked line is INFO on stdout and WARNING on stderr (libraries report
progress and deprecations there; what failed is marked ERROR by us or by `logging`).
"""

import os
import socket
import sys

MARK = "\x1e"
ERROR = "E"


def prepare_streams() -> None:
    """Line buffering and an encoder that never raises, set once in the zygote and inherited by every child."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, encoding="utf-8", errors="backslashreplace")


def take_over(out: socket.socket, err: socket.socket) -> None:
    """Lets descriptors 1 and 2 lead to Node; the sockets themselves are closed."""
    os.dup2(out.fileno(), 1, inheritable=True)
    os.dup2(err.fileno(), 2, inheritable=True)
    out.close()
    err.close()


def flush_streams() -> None:
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            if stream is not None:
                stream.flush()
        except Exception:
            continue


def release_streams() -> None:
    """Flushes, then lets go of Node's sockets: their end of file comes before the answer."""
    flush_streams()
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)
    os.close(null)


def mark_lines(text: str, letter: str) -> str:
    return "".join(f"{MARK}{letter}{line}\n" for line in text.splitlines() or [""])


def write_error(text: str) -> None:
    """Writes lines of severity ERROR past whatever user code made of `sys.stderr`."""
    flush_streams()
    data = mark_lines(text, ERROR).encode("utf-8", "backslashreplace")
    try:
        while data:
            data = data[os.write(2, data) :]
    except OSError:
        return
