"""What forked children would share, found among what this process holds."""

import mmap
import multiprocessing
import os
import socket
import tempfile
import unittest

from service_runner import opened
from service_runner.kernel import LINUX

from .support import run_python


@unittest.skipUnless(LINUX, "looks into /proc")
class Opened(unittest.TestCase):
    def setUp(self) -> None:
        self.before = opened.list_descriptors()

    def find(self) -> str | None:
        return opened.find_descriptor(self.before)

    def test_what_was_open_before_does_not_count_and_what_was_closed_neither(self) -> None:
        self.assertIsNone(self.find())
        with tempfile.TemporaryFile():
            self.assertRegex(self.find() or "", r"^The file /.* \(deleted\)$")
        self.assertIsNone(self.find())

    def test_a_number_that_was_reused_counts(self) -> None:
        number = os.open("/dev/null", os.O_RDONLY)
        before = opened.list_descriptors()
        with tempfile.TemporaryFile() as file:
            os.dup2(file.fileno(), number)
        try:
            self.assertRegex(opened.find_descriptor(before) or "", "^The file ")
        finally:
            os.close(number)

    def test_a_connection_is_named_by_its_peer(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            before = opened.list_descriptors()
            with socket.create_connection(("127.0.0.1", port)):
                self.assertEqual(
                    opened.find_descriptor(before), f"A connection to 127.0.0.1:{port}"
                )

    def test_shared_memory_that_can_be_written_is_found_and_a_private_or_read_only_mapping_is_not(
        self,
    ) -> None:
        self.assertIsNone(opened.find_shared_memory())
        with mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS):
            self.assertIsNone(opened.find_shared_memory())
        with open(__file__, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ):
            self.assertIsNone(opened.find_shared_memory())
        with mmap.mmap(-1, 4096, prot=mmap.PROT_READ):  # mprotect(2) would make it writable
            self.assertEqual(opened.find_shared_memory(), "Shared memory (/dev/zero (deleted))")
        lock = multiprocessing.Lock()
        self.assertEqual(
            opened.find_shared_memory(),
            "A lock or semaphore of several processes (multiprocessing)",
        )
        del lock

    def test_what_the_platform_was_started_with_is_closed_except_what_is_named(self) -> None:
        program = """
import os, sys
from service_runner import opened
hook = os.open("/dev/null", os.O_RDONLY)  # not inheritable, as everything that Python opens
kept, *leaked = map(int, sys.argv[1].split(","))
opened.close_inherited(kept)
def is_open(number):
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
print([is_open(number) for number in (0, 1, 2, hook, kept, *leaked)])
"""
        numbers = os.pipe() + os.pipe()
        text = ",".join(map(str, numbers))
        done = run_python(program, text, descriptors=numbers)
        self.assertEqual(done.stdout, f"{[True] * 5 + [False] * 3}\n", done.stderr)
        for number in numbers:
            os.close(number)

    def test_reopened_files_have_the_same_position_and_move_alone(self) -> None:
        with open(__file__, "rb", buffering=0) as file:
            file.seek(7)
            shared = os.dup(file.fileno())
            opened.reopen([file.fileno()])
            self.assertEqual(file.tell(), 7)
            file.seek(0)
            self.assertEqual(os.lseek(shared, 0, os.SEEK_CUR), 7)
            os.close(shared)


if __name__ == "__main__":
    unittest.main()
