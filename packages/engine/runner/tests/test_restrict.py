"""What becomes a program of a build where there are no user namespaces."""

import json
import os
import subprocess
import tempfile
import unittest

from service_runner import landlock
from service_runner.kernel import LINUX

from .support import INTERPRETER, RUNNER

_SYSTEM = ["/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache"]


def run(command: list[str], owned: list[str]) -> subprocess.CompletedProcess[str]:
    """The command with the system to read, and these folders to write."""
    order = {
        "command": command,
        "readable": _SYSTEM,
        "used": ["/dev/null"],
        "owned": owned,
        "filter": None,
        "parent": os.getpid(),
    }
    return subprocess.run(
        [*INTERPRETER, RUNNER, "restrict", json.dumps(order)],
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=30,
    )


@unittest.skipUnless(LINUX and landlock.find_version() >= landlock.LEAST_VERSION, "needs Landlock")
class Restrict(unittest.TestCase):
    def test_the_command_writes_below_its_own_folders_only(self) -> None:
        with tempfile.TemporaryDirectory() as own, tempfile.TemporaryDirectory() as other:
            done = run(["/bin/sh", "-c", f"echo x > {own}/x; echo y > {other}/y; exit 7"], [own])
            self.assertEqual((os.listdir(own), os.listdir(other)), (["x"], []))
        self.assertEqual(done.returncode, 7)
        self.assertIn("Permission denied", done.stderr)

    def test_a_command_that_cannot_be_executed_is_refused_with_the_reason(self) -> None:
        done = run(["/usr/bin/absent"], [])
        self.assertEqual(done.returncode, 126)
        self.assertIn("the build cannot be confined: [Errno 2]", done.stderr)


if __name__ == "__main__":
    unittest.main()
