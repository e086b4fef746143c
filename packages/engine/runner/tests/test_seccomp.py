"""How a filter is installed; what filters refuse is tested where they are assembled."""

import base64
import os
import struct
import unittest

from service_runner.kernel import LINUX

from .support import read_output

LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, EPERM = 0x7FFF0000, 0x00050001
KILL = {"x86_64": 62, "aarch64": 129}
OWN_PID = 0x7FFFFFF1
PARENT_GROUP = 0x7FFFFFF3

INSTALLED = """
import os, sys, threading
from service_runner import kernel, seccomp
kernel.set_process_option(kernel.PR_SET_NO_NEW_PRIVS, 1)
parent = os.getpid()
filter = seccomp.Filter(sys.argv[1])
def attempt(pid):
    try:
        os.kill(pid, 0)
        return "allowed"
    except PermissionError:
        return "refused"
"""


def assemble(*instructions: tuple[int, int, int, int]) -> str:
    return base64.b64encode(b"".join(struct.pack("<HBBI", *one) for one in instructions)).decode()


@unittest.skipUnless(LINUX and os.uname().machine in KILL, "filters are Linux's")
class Filters(unittest.TestCase):
    def test_a_filter_knows_the_process_that_installs_it(self) -> None:
        """`kill` with the own process id only."""
        text = assemble(
            (LOAD, 0, 0, 0),
            (EQUAL, 0, 3, KILL[os.uname().machine]),
            (LOAD, 0, 0, 16),
            (EQUAL, 1, 0, OWN_PID),
            (RETURN, 0, 0, EPERM),
            (RETURN, 0, 0, ALLOW),
        )
        program = """
for _ in range(2):
    if os.fork() == 0:
        filter.install()
        print(attempt(os.getpid()), attempt(parent), flush=True)
        thread = threading.Thread(target=lambda: print(attempt(parent), flush=True))
        thread.start()
        thread.join()
        if os.fork() == 0:
            print(attempt(parent), flush=True)
            os._exit(0)
        os.wait()
        os._exit(0)
    os.wait()
print(attempt(parent))
"""
        once = "allowed refused\nrefused\nrefused\n"
        self.assertEqual(read_output(INSTALLED + program, text), f"{once}{once}allowed\n")

    def test_a_filter_knows_the_group_of_the_process_that_started_the_one_that_installs_it(
        self,
    ) -> None:
        """`kill` with any number but that."""
        text = assemble(
            (LOAD, 0, 0, 0),
            (EQUAL, 0, 3, KILL[os.uname().machine]),
            (LOAD, 0, 0, 16),
            (EQUAL, 0, 1, PARENT_GROUP),
            (RETURN, 0, 0, EPERM),
            (RETURN, 0, 0, ALLOW),
        )
        program = """
os.setsid()
if os.fork() == 0:
    os.setsid()
    filter.install()
    print(attempt(parent), attempt(-parent), attempt(-os.getpid()), attempt(0), flush=True)
    os._exit(0)
os.wait()
print(attempt(-parent))
"""
        printed = read_output(INSTALLED + program, text)
        self.assertEqual(printed, "allowed refused allowed allowed\nallowed\n")

    def test_a_program_that_the_kernel_refuses_is_an_error(self) -> None:
        program = """
try:
    filter.install()
except OSError as error:
    print(error)
"""
        text = assemble((0xFFFF, 0, 0, 0), (RETURN, 0, 0, ALLOW))
        self.assertEqual(
            read_output(INSTALLED + program, text), "[Errno 22] prctl: seccomp: Invalid argument\n"
        )


if __name__ == "__main__":
    unittest.main()
