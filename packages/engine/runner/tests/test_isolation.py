"""What separates a child: session, limits, directories.

What comes of it for runs is tested through Node (`isolation.test.ts`, `siblings.test.ts`).
"""

import resource
import tempfile
import unittest

from service_runner import isolation
from service_runner.kernel import LINUX

from .support import read_output

SOFT_AND_HARD = """
import os, resource
from service_runner import isolation
MEBIBYTE = 1 << 20
def show(kind):
    return tuple(n // MEBIBYTE if n > MEBIBYTE else n for n in resource.getrlimit(kind))
"""


class Limits(unittest.TestCase):
    @unittest.skipUnless(LINUX, "only Linux counts RLIMIT_DATA as this needs it")
    def test_memory_is_limited_on_top_of_what_the_zygote_has_and_keeps_a_reserve(self) -> None:
        program = """
before = isolation.read_data_size() // MEBIBYTE
isolation.limit_resources(isolation.list_limits(100 * MEBIBYTE, 7))
kinds = (resource.RLIMIT_DATA, resource.RLIMIT_NPROC, resource.RLIMIT_CORE)
data, *others = (show(kind) for kind in kinds)
print([megabytes - before for megabytes in data], others)
isolation.release_reserve()
print([megabytes - before for megabytes in show(resource.RLIMIT_DATA)])
try:
    bytearray(300 * MEBIBYTE)
except MemoryError:
    print("refused")
"""
        _, most = resource.getrlimit(resource.RLIMIT_CORE)
        core = 0 if most == 0 else 1
        expected = f"[100, 132] [(7, 7), ({core}, {core})]\n[132, 132]\nrefused\n"
        self.assertEqual(read_output(SOFT_AND_HARD + program), expected)

    @unittest.skipUnless(LINUX, "only Linux counts RLIMIT_DATA as this needs it")
    def test_limits_of_the_import_are_lifted_after_it(self) -> None:
        program = """
_, before = resource.getrlimit(resource.RLIMIT_DATA)
isolation.limit_import(100 * MEBIBYTE)
isolation.limit_processes_of_import(7, 3)
soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
print(soft - isolation.read_data_size() <= 100 * MEBIBYTE, hard == before)
print(resource.getrlimit(resource.RLIMIT_NPROC))
isolation.lift_import_limits()
print(resource.getrlimit(resource.RLIMIT_DATA) == (before, before))
print(resource.getrlimit(resource.RLIMIT_NPROC))
"""
        expected = "True True\n(7, 28)\nTrue\n(28, 28)\n"
        self.assertEqual(read_output(SOFT_AND_HARD + program), expected)

    def test_a_file_of_the_host_has_a_bound_that_stays_after_the_import(self) -> None:
        program = """
isolation.limit_files(100 * MEBIBYTE)
isolation.lift_import_limits()
isolation.limit_resources(isolation.list_limits(100 * MEBIBYTE, None))
print(show(resource.RLIMIT_FSIZE))
"""
        self.assertEqual(read_output(SOFT_AND_HARD + program), "(100, 100)\n")

    def test_a_limit_is_never_raised(self) -> None:
        program = """
resource.setrlimit(resource.RLIMIT_NOFILE, (20, 30))
isolation.limit_resources(isolation.list_limits(MEBIBYTE, None))
print(resource.getrlimit(resource.RLIMIT_NOFILE))
"""
        self.assertEqual(read_output(SOFT_AND_HARD + program), "(30, 30)\n")

    @unittest.skipUnless(LINUX, "reads /proc")
    def test_the_data_size_counts_what_is_allocated(self) -> None:
        before = isolation.read_data_size()
        data = bytearray(50 << 20)
        self.assertGreaterEqual(isolation.read_data_size() - before, len(data))
        soft, _ = resource.getrlimit(resource.RLIMIT_DATA)
        self.assertTrue(soft == resource.RLIM_INFINITY or soft > before)


class Session(unittest.TestCase):
    def test_a_child_leads_a_session_of_its_own_and_its_files_are_private(self) -> None:
        program = """
import os
from service_runner import isolation
parent = os.getpid()
if os.fork() == 0:
    isolation.lead_session(parent)
    print(os.getsid(0) == os.getpid(), oct(os.umask(0)), flush=True)
    os._exit(0)
os.wait()
"""
        self.assertEqual(read_output(program), "True 0o77\n")

    def test_a_child_whose_zygote_died_ends(self) -> None:
        program = """
import os
from service_runner import isolation
if os.fork() == 0:
    isolation.lead_session(os.getppid() + 1)
    print("goes on", flush=True)
os.wait()
"""
        self.assertEqual(read_output(program), "")


class Folders(unittest.TestCase):
    def test_without_a_private_tmp_each_execution_has_a_folder_of_its_own(self) -> None:
        program = """
import os, sys, tempfile
from service_runner import isolation, removal
scratch = sys.argv[1]
tempfile.gettempdir()
isolation.create_folders(scratch, 7)
home = os.environ["HOME"]
names = ("TMPDIR", "OUTPUT_DIRECTORY")
print([os.path.relpath(os.environ[name], home) for name in names], tempfile.gettempdir() == home)
print(oct(os.stat(home).st_mode & 0o777), os.listdir(home))
isolation.create_folders(scratch, 77)
other = os.environ["HOME"]
os.mkdir(os.path.join(home, "folder"))
open(os.path.join(home, "folder", "left"), "w").close()
os.symlink(other, os.path.join(home, "output", "link"))
descriptor = os.open(scratch, os.O_RDONLY)
removal.remove_folders(descriptor, 7)
removal.remove_folders(descriptor, 7)
print(os.listdir(scratch) == [os.path.basename(other)], os.listdir(other))
"""
        with tempfile.TemporaryDirectory() as scratch:
            self.assertEqual(
                read_output(program, scratch),
                "['.', 'output'] True\n0o700 ['output']\nTrue ['output']\n",
            )

    def test_the_name_of_a_folder_cannot_be_guessed(self) -> None:
        program = """
import os, sys
from service_runner import isolation
for _ in range(2):
    isolation.create_folders(sys.argv[1], 7)
print(sorted({len(name) for name in os.listdir(sys.argv[1])}), len(os.listdir(sys.argv[1])))
"""
        with tempfile.TemporaryDirectory() as scratch:
            self.assertEqual(read_output(program, scratch), "[34] 2\n")


if __name__ == "__main__":
    unittest.main()
