"""What user code has written to OUTPUT_DIRECTORY and the output pool: sent before the result.

Only regular files of a folder itself, each with one name. Nothing is followed, and nothing is
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

POOL_SUFFIX = "-pool"
"""The folder of the output pool is beside OUTPUT_DIRECTORY."""
_PIECE = 1 << 20
_SHOWN = {wire.FILE: "OUTPUT_DIRECTORY", wire.POOL_FILE: "The output pool"}
_FOLDER = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FILE = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0)
_KINDS = (
    (stat.S_ISDIR, "a folder: pack its files, or write them beside each other"),
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)


class OutputFiles:
    """The files of an open folder, by name, and why others are left out.

    They are sent as frames of a kind: of the result, or of the output pool.
    """

    def __init__(self, folder: int, limits: OutputLimits, kind: int) -> None:
        self.omitted: list[tuple[str, str]] = []
        self._folder = folder
        self._limits = limits
        self._kind = kind
        self._names: list[str] = []

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
                    found_bytes = f"files of {total} bytes or more"
                    raise self._exceed(found_bytes, f"{self._limits['bytes']} bytes")

    def send(self, connection: int) -> None:
        """All of them; raises Failure where one is changed meanwhile, and OSError."""
        for name in sorted(self._names):
            self._send_file(connection, name)

    def _add(self, name: str, reason: str | None) -> None:
        if reason is None:
            self._names.append(name)
        else:
            self._omit(name, reason)
        count = len(self._names) + len(self.omitted)
        if count > self._limits["count"]:
            raise self._exceed(f"{count} entries or more", f"{self._limits['count']} entries")

    def _omit(self, name: str, reason: str) -> None:
        place = "" if self._kind == wire.FILE else "in the output pool: "
        # As it is shown: half a character is no text.
        self.omitted.append((os.fsencode(name).decode("utf-8", "replace"), place + reason))

    def _exceed(self, found: str, limit: str) -> Failure:
        detail = f"{_SHOWN[self._kind]} has {found}, the limit is {limit}."
        return Failure("RESULT_TOO_LARGE", detail)

    def _changed(self, name: str) -> Failure:
        shown = _SHOWN[self._kind].replace("The ", "the ")
        changed = f"The file {name!r} in {shown} was changed while it was read"
        return Failure("INVALID_RESULT", f"{changed}: end what writes to it before run returns.")

    def _send_file(self, connection: int, name: str) -> None:
        try:
            file = os.open(name, _FILE, dir_fd=self._folder)
        except OSError as error:
            self._omit(name, f"it cannot be read: {error.strerror}")
            return
        try:
            before = os.fstat(file)
            if _refuse(name, before) is not None:
                raise self._changed(name)
            wire.write(connection, wire.encode_frame(self._kind, name.encode("utf-8")))
            left = before.st_size
            while left > 0:
                piece = os.read(file, min(left, _PIECE))
                if not piece:
                    break
                wire.write(connection, wire.encode_frame(wire.CONTENT, piece))
                left -= len(piece)
            after = os.fstat(file)
            if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
                raise self._changed(name)
        finally:
            os.close(file)


def send_output(connection: int, folder: str, limits: OutputLimits, has_pool: bool) -> None:
    """What was written to the folder, and to that of the output pool, where there is one.

    Raises Failure before anything is sent where one has too much, and OSError where Node has hung
    up. Node counts both together.
    """
    opened = [open_output(folder, limits, wire.FILE)]
    if has_pool:
        opened.append(open_output(folder + POOL_SUFFIX, limits, wire.POOL_FILE))
    found = [files for files in opened if files is not None]
    for files in found:
        files.send(connection)
    omitted = sorted(entry for files in found for entry in files.omitted)
    if omitted:
        text = json.dumps(omitted).encode("ascii")
        wire.write(connection, wire.encode_frame(wire.OMITTED, text))


def open_output(path: str, limits: OutputLimits, kind: int) -> OutputFiles | None:
    """The files of a folder that is there and is no link; None where there is none.

    The descriptor ends with the process. Raises Failure where they exceed the limits, or may not be
    read: what is in there must not be lost without a word.
    """
    try:
        folder = os.open(path, _FOLDER)
    except PermissionError as error:
        raise Failure("INVALID_RESULT", f"{_SHOWN[kind]} cannot be read: {error}") from None
    except OSError:
        return None
    files = OutputFiles(folder, limits, kind)
    try:
        files.find()
    except OSError as error:
        raise Failure("INVALID_RESULT", f"{_SHOWN[kind]} cannot be read: {error}") from None
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
