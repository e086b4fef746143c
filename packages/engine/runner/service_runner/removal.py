"""Removes what executions without a private /tmp have left, which may be anything.

Whoever does it shares the memory limit of the version, and its descriptors: so neither the number
of files nor the depth of folders may cost any.
"""

from __future__ import annotations

import errno
import os

from . import kernel

_DEEPEST = 32
_NAME_BYTES = 16


def remove_folders(scratch: int, identity: int) -> None:
    """Removes the directories of an execution; `scratch` is the descriptor of their parent.

    What the system refuses to remove is left to Node. Raises OSError if `scratch` cannot be read.
    """
    _Removal(scratch, f"{identity}-").run()


class _Removal:
    def __init__(self, scratch: int, prefix: str) -> None:
        self._scratch = scratch
        self._prefix = prefix
        self._has_moved = True

    def run(self) -> None:
        while self._has_moved:
            self._has_moved = False
            self._empty(self._scratch, 0)

    def _remove(self, name: str, parent: int, depth: int) -> bool:
        """A file, or a directory with its content; follows no links. False: it could not."""
        try:
            folder = _open_folder(name, parent)
        except OSError as error:
            return error.errno in (errno.ENOTDIR, errno.ELOOP) and _unlink(name, parent)
        try:
            if depth == _DEEPEST:
                self._move_up(name, parent)
                return True
            # Again, since a file system may pass over some entries while others are removed.
            while self._empty(folder, depth + 1):
                if _remove_folder(name, parent):
                    return True
            return _remove_folder(name, parent)
        except OSError:
            return False
        finally:
            os.close(folder)

    def _empty(self, folder: int, depth: int) -> bool:
        """Removes what it can; False if that was nothing. There may be millions: it lists none."""
        has_removed = False
        with os.scandir(folder) as entries:
            for entry in entries:
                if depth > 0 or entry.name.startswith(self._prefix):
                    has_removed = self._remove(entry.name, folder, depth) or has_removed
        return has_removed

    def _move_up(self, name: str, parent: int) -> None:
        above = self._prefix + os.urandom(_NAME_BYTES).hex()
        os.rename(name, above, src_dir_fd=parent, dst_dir_fd=self._scratch)
        self._has_moved = True


def _unlink(name: str, parent: int) -> bool:
    try:
        os.unlink(name, dir_fd=parent)
    except OSError:
        return False
    return True


def _remove_folder(name: str, parent: int) -> bool:
    try:
        os.rmdir(name, dir_fd=parent)
    except OSError:
        return False
    return True


def _open_folder(name: str, parent: int) -> int:
    """Opens a directory to list and change it, whatever its permissions are: it is of our user."""
    flags = os.O_DIRECTORY | os.O_NOFOLLOW
    try:
        folder = os.open(name, os.O_RDONLY | flags, dir_fd=parent)
    except PermissionError:
        if not kernel.LINUX:
            raise
        # Reading needs the permission; naming it for a change of permissions does not.
        place = os.open(name, os.O_PATH | flags, dir_fd=parent)
        try:
            os.chmod(f"/proc/self/fd/{place}", 0o700)
        finally:
            os.close(place)
        folder = os.open(name, os.O_RDONLY | flags, dir_fd=parent)
    os.fchmod(folder, 0o700)
    return folder
