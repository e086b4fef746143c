"""The launcher of isolation level C, started as Node starts it."""

import base64
import json
import os
import select
import shutil
import struct
import subprocess
import tempfile
import unittest
from collections.abc import Iterator
from contextlib import contextmanager

from service_runner import confine, landlock
from service_runner.kernel import LINUX

from .support import INTERPRETER, RUNNER, read_output

_ALLOW_ALL = base64.b64encode(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000)).decode("ascii")

_LONELY_UID = 61_234
"""Of no account: a signal to all its processes reaches those of a test alone."""

_NODE = """
import json, os, subprocess, sys
order = {**json.loads(sys.argv[1]), "parent": os.getpid()}
old_kernel = (
    "import sys; from service_runner import confine, landlock;"
    "landlock.find_version = lambda: 5; confine.main_confine(sys.argv[1])"
)
kept = [os.dup(0) for _ in range(5)]
reader, writer = os.pipe()
os.dup2(writer, 4)
launcher = subprocess.Popen([*sys.argv[2:], "-c", old_kernel, json.dumps(order)], pass_fds=[4, 5])
os.read(reader, 100)
print(launcher.pid, flush=True)
sys.stdin.read()
"""
"""As Node starts the launcher, on a kernel whose Landlock knows no signals."""


def create_order(command: list[str], parent: int, folder: str) -> dict[str, object]:
    """The version writes below the folder only."""
    return {
        "parent": parent,
        "command": command,
        "directory": folder,
        "readable": ["/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/proc"],
        "used": ["/dev/null"],
        "owned": [folder],
        "opened": [],
        "filter": _ALLOW_ALL,
        "home": folder,
        "processes": 1024,
    }


def launch(command: list[str], parent: int, folder: str) -> subprocess.Popen[str]:
    """Its descriptor 4 is that of this process, and so is 5."""
    order = create_order(command, parent, folder)
    return subprocess.Popen(
        [*INTERPRETER, RUNNER, "confine", json.dumps(order)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        pass_fds=[confine.STATUS, confine.SCRATCH],
    )


@contextmanager
def status_pipe() -> Iterator[int]:
    """A pipe that ends in descriptor 4, whatever that was before; the other end."""
    kept = [os.dup(0) for _ in range(confine.SCRATCH + 1)]  # so that 4 and 5 are taken by now
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

    @unittest.skipUnless(LINUX and os.getuid() == 0, "starts processes of another user")
    def test_the_end_of_node_costs_no_process_of_its_user_that_the_launcher_did_not_start(
        self,
    ) -> None:
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            shutil.copytree(RUNNER, f"{folder}/runner", ignore=shutil.ignore_patterns("tests"))
            order = create_order(["/bin/sleep", "60"], 0, folder)
            try:
                node = subprocess.Popen(
                    [*INTERPRETER, "-c", _NODE, json.dumps(order), *INTERPRETER],
                    user=_LONELY_UID,
                    cwd=f"{folder}/runner",
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                )
            except PermissionError:
                self.skipTest("this Python cannot be executed by other users")
            bystander = subprocess.Popen(["/bin/sleep", "60"], user=_LONELY_UID)
            assert node.stdout is not None and node.stdin is not None
            try:
                launcher = os.pidfd_open(int(node.stdout.readline()))
                node.kill()
                node.wait()
                ended, _, _ = select.select([launcher], [], [], 20)
                os.close(launcher)
                self.assertEqual((ended, bystander.poll()), ([launcher], None))
            finally:
                for process in (bystander, node):
                    process.kill()
                    process.wait()
                node.stdin.close()
                node.stdout.close()


@unittest.skipUnless(LINUX, "counts for each user")
class Processes(unittest.TestCase):
    def test_a_fork_bomb_of_a_version_is_bounded_and_the_bound_cannot_be_raised(self) -> None:
        printed = read_output("""
            import os, resource, signal, time
            from service_runner import confine
            if os.getuid() == 0:
                os.setgid(61_234)
                os.setuid(61_234)
            confine.limit_processes(50)
            made = []
            try:
                while len(made) < 250:
                    pid = os.fork()
                    if pid == 0:
                        time.sleep(60)
                        os._exit(0)
                    made.append(pid)
            except BlockingIOError:
                pass
            for pid in made:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            bound, _ = resource.getrlimit(resource.RLIMIT_NPROC)
            try:
                resource.setrlimit(resource.RLIMIT_NPROC, (bound + 1, bound + 1))
            except ValueError:
                print(25 < len(made) < 200)
        """)
        self.assertEqual(printed, "True\n")
