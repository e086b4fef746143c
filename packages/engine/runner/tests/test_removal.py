"""Removal of what an execution has left, which may be made to resist."""

import subprocess
import tempfile
import unittest

from .support import read_output


class Removal(unittest.TestCase):
    def test_folders_that_nobody_may_read_or_change_are_removed_too(self) -> None:
        program = """
import os, sys
from service_runner import isolation, removal
if os.getuid() == 0:
    os.chown(sys.argv[1], 65534, 65534)
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
scratch = os.open(sys.argv[1], os.O_RDONLY)
isolation.create_folders(sys.argv[1], 7)
for name, mode in (("closed", 0), ("fixed", 0o500)):
    folder = os.path.join(os.environ["HOME"], name)
    os.makedirs(os.path.join(folder, "inner"))
    os.chmod(folder, mode)
removal.remove_folders(scratch, 7)
print(os.listdir(sys.argv[1]))
"""
        with tempfile.TemporaryDirectory() as scratch:
            self.assertEqual(read_output(program, scratch), "[]\n")

    def test_what_is_nested_deeper_than_calls_can_be_is_removed_with_what_lies_beside_it(
        self,
    ) -> None:
        program = """
import os, sys
from service_runner import isolation, kernel, landlock, removal
kernel.set_process_option(kernel.PR_SET_NO_NEW_PRIVS, 1)
landlock.keep_signals()  # as the warden does
scratch = os.open(sys.argv[1], os.O_RDONLY)
isolation.create_folders(sys.argv[1], 7)
os.chdir(os.environ["HOME"])
for name in ("a", "b", "c"):
    os.mkdir(name)
os.chdir("b")
for _ in range(1500):
    os.mkdir("d")
    open("file", "w").close()
    os.chdir("d")
os.chdir("/")
removal.remove_folders(scratch, 7)
print(os.listdir(scratch))
"""
        with tempfile.TemporaryDirectory() as scratch:
            self.addCleanup(subprocess.run, ["rm", "-rf", scratch], check=True)
            self.assertEqual(read_output(program, scratch), "[]\n")

    def test_many_files_are_removed_without_a_list_of_them(self) -> None:
        program = """
import os, sys, tracemalloc
from service_runner import isolation, removal
scratch = os.open(sys.argv[1], os.O_RDONLY)
isolation.create_folders(sys.argv[1], 7)
for number in range(10_000):
    os.close(os.open(f"{os.environ['HOME']}/{number:0200}", os.O_CREAT))
tracemalloc.start()
removal.remove_folders(scratch, 7)
print(os.listdir(scratch), tracemalloc.get_traced_memory()[1] < 100_000)
"""
        with tempfile.TemporaryDirectory() as scratch:
            self.assertEqual(read_output(program, scratch), "[] True\n")


if __name__ == "__main__":
    unittest.main()
