"""stdout and stderr of an execution, redirected to Node at descriptor level.

C libraries and subprocesses are captured too, because the descriptors themselves lead to Node. A
line that begins with MARK and one letter states its severity. An unmarked line is INFO on stdout
and WARNING on stderr: libraries report progress and deprecations there, and errors are marked ERROR
by the runner or by `logging`.
"""

from __future__ import annotations

import io
import os
import sys

MARK = "\x1e"
ERROR = "E"


def prepare_streams() -> None:
    """Line buffering and an encoder that never raises; set in the zygote, inherited by children."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True, encoding="utf-8", errors="backslashreplace")


def take_over(out: int, err: int) -> None:
    """Lets descriptors 1 and 2 lead to Node; closes those given."""
    os.dup2(out, 1, inheritable=True)
    os.dup2(err, 2, inheritable=True)
    os.close(out)
    os.close(err)


def flush_streams() -> None:
    """Flushes what user code may have replaced by anything: never raises."""
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            if stream is not None:
                stream.flush()
        except Exception:
            continue


def release_streams() -> None:
    """Flushes, then closes Node's sockets, so that their end of file comes before the answer."""
    flush_streams()
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)
    os.close(null)


def mark_lines(text: str, letter: str) -> str:
    """The text with its severity at the beginning of each line; always ends with a newline."""
    return "".join(f"{MARK}{letter}{line}\n" for line in text.splitlines() or [""])


def write_error(text: str) -> None:
    """Writes lines of severity ERROR to descriptor 2, whatever `sys.stderr` is by now."""
    flush_streams()
    data = mark_lines(text, ERROR).encode("utf-8", "backslashreplace")
    try:
        while data:
            data = data[os.write(2, data) :]
    except OSError:
        return
