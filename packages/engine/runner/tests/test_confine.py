"""The launcher of isolation level C, started as Node starts it."""

import base64
import json
import os
import struct
import subprocess
import tempfile
import unittest
from collections.abc import Iterator
from contextlib import contextmanager

from service_runner import confine, landlock
from service_runner.kernel import LINUX

from .support import INTERPRETER, RUNNER

_ALLOW_ALL = base64.b64encode(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000)).decode("ascii")


def launch(command: list[str], parent: int, folder: str) -> subprocess.Popen[str]:
    """Its descriptor 4 is that of this process."""
    order = {
        "parent": parent,
        "command": command,
        "directory": folder,
        "readable": ["/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/proc"],
        "used": ["/dev/null"],
        "owned": [folder],
        "filter": _ALLOW_ALL,
    }
    return subprocess.Popen(
        [*INTERPRETER, RUNNER, "confine", json.dumps(order)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        pass_fds=[confine.STATUS],
    )


@contextmanager
def status_pipe() -> Iterator[int]:
    """A pipe that ends in descriptor 4, whatever that was before; the other end."""
    kept = [os.dup(0) for _ in range(confine.STATUS + 1)]  # so that 4 is taken by now
    before = os.dup(confine.STATUS)
    reader, writer = os.pipe()
    os.dup2(writer, confine.STATUS)
    os.close(writer)
    try:
        yield reader
    finally:
        os.dup2(before, confine.STATUS)
        for descriptor in {before, reader, *kept} - {confine.STATUS}:
            os.close(descriptor)


@unittest.skipUnless(LINUX and landlock.find_version() >= landlock.LEAST_VERSION, "needs Landlock")
class Launcher(unittest.TestCase):
    def launch(self, command: list[str], parent: int | None = None) -> tuple[int, str, str, bytes]:
        """Exit code, output, errors, and what was written to the status descriptor."""
        with tempfile.TemporaryDirectory() as folder, status_pipe() as reader:
            child = launch(command, os.getpid() if parent is None else parent, folder)
            output, errors = child.communicate(timeout=30)
            os.set_blocking(reader, False)
            try:
                status = os.read(reader, 100)
            except BlockingIOError:
                status = b""
        return child.returncode, output, errors, status

    def test_the_command_begins_confined_and_its_exit_code_is_passed_on(self) -> None:
        code, output, errors, status = self.launch(
            ["/bin/sh", "-c", "echo hi; cat /etc/hostname; exit 7"]
        )
        self.assertEqual((code, output, status), (7, "hi\n", confine.BEGUN))
        self.assertIn("Permission denied", errors)

    def test_a_command_that_cannot_be_executed_has_not_begun(self) -> None:
        code, _, errors, status = self.launch(["/usr/bin/absent"])
        self.assertEqual((code, status), (126, b""))
        self.assertIn("the version cannot be confined: [Errno 2]", errors)

    def test_the_end_of_a_signal_is_passed_on_as_a_shell_does(self) -> None:
        self.assertEqual(self.launch(["/bin/sh", "-c", "kill -ABRT $$"])[0], 128 + 6)

    def test_nothing_begins_when_node_is_gone_already(self) -> None:
        self.assertEqual(self.launch(["/bin/echo"], parent=1), (0, "", "", b""))
