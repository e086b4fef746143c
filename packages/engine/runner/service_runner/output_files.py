"""What user code has written to OUTPUT_DIRECTORY: sent to Node before the result.

Only regular files of the folder itself, each with one name. Nothing is followed, and nothing is
opened that might have an effect or keep the reader waiting.
"""

from __future__ import annotations

import json
import os
import stat

from . import wire
from .failure import Failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .messages import OutputLimits

_PIECE = 1 << 20
_FOLDER = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FILE = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0)
_KINDS = (
    (stat.S_ISDIR, "a folder: pack its files, or write them beside each other"),
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)


class OutputFiles:
    """The files of an open folder, by name, and why others are left out."""

    def __init__(self, folder: int, limits: OutputLimits) -> None:
        self._folder = folder
        self._limits = limits
        self._names: list[str] = []
        self._omitted: list[tuple[str, str]] = []

    def find(self) -> None:
        """Raises Failure where they exceed the limits, and OSError."""
        total = 0
        with os.scandir(self._folder) as entries:
            for entry in entries:
                found = os.stat(entry.name, dir_fd=self._folder, follow_symlinks=False)
                reason = _refuse(entry.name, found)
                total += found.st_size if reason is None else 0
                self._add(entry.name, reason)
                if total > self._limits["bytes"]:
                    raise _exceed(
                        f"files of {total} bytes or more", f"{self._limits['bytes']} bytes"
                    )

    def send(self, connection: int) -> None:
        """All of them; raises Failure where one is changed meanwhile, and OSError."""
        for name in sorted(self._names):
            self._send_file(connection, name)
        if self._omitted:
            text = json.dumps(sorted(self._omitted)).encode("ascii")
            wire.write(connection, wire.encode_frame(wire.OMITTED, text))

    def _add(self, name: str, reason: str | None) -> None:
        if reason is None:
            self._names.append(name)
        else:
            # As it is shown: half a character is no text.
            self._omitted.append((os.fsencode(name).decode("utf-8", "replace"), reason))
        count = len(self._names) + len(self._omitted)
        if count > self._limits["count"]:
            raise _exceed(f"{count} entries or more", f"{self._limits['count']} entries")

    def _send_file(self, connection: int, name: str) -> None:
        try:
            file = os.open(name, _FILE, dir_fd=self._folder)
        except OSError as error:
            self._omitted.append((name, f"it cannot be read: {error.strerror}"))
            return
        try:
            before = os.fstat(file)
            if _refuse(name, before) is not None:
                raise _changed(name)
            wire.write(connection, wire.encode_frame(wire.FILE, name.encode("utf-8")))
            left = before.st_size
            while left > 0:
                piece = os.read(file, min(left, _PIECE))
                if not piece:
                    break
                wire.write(connection, wire.encode_frame(wire.CONTENT, piece))
                left -= len(piece)
            after = os.fstat(file)
            if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
                raise _changed(name)
        finally:
            os.close(file)


def open_output(path: str, limits: OutputLimits) -> OutputFiles | None:
    """The files of a folder that is there and is no link; None where there is none.

    The descriptor ends with the process. Raises Failure where they exceed the limits.
    """
    try:
        folder = os.open(path, _FOLDER)
    except OSError:
        return None
    files = OutputFiles(folder, limits)
    try:
        files.find()
    except OSError as error:
        raise Failure("INVALID_RESULT", f"OUTPUT_DIRECTORY cannot be read: {error}") from None
    return files


def _refuse(name: str, found: os.stat_result) -> str | None:
    """Why an entry is left out; None where it is a file to be returned."""
    for is_kind, reason in _KINDS:
        if is_kind(found.st_mode):
            return f"it is {reason}"
    if not stat.S_ISREG(found.st_mode):
        return "it is a device"
    if found.st_nlink != 1:
        return "it has other names: a hard link"
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    return None


def _exceed(found: str, limit: str) -> Failure:
    return Failure("RESULT_TOO_LARGE", f"OUTPUT_DIRECTORY has {found}, the limit is {limit}.")


def _changed(name: str) -> Failure:
    changed = f"The file {name!r} in OUTPUT_DIRECTORY was changed while it was read"
    return Failure("INVALID_RESULT", f"{changed}: end what writes to it before run returns.")
