"""What children inherit from the platform unless the kernel is asked otherwise."""

import os
import subprocess
import sys
import unittest

from service_runner import kernel

PROGRAM = """
import ctypes, sys
from service_runner import kernel
KEYCTL, ADD_KEY, SEARCH, SESSION = kernel._KEYCTL[sys.argv[1]], int(sys.argv[2]), 10, -3
libc = ctypes.CDLL(None)
if libc.syscall(KEYCTL, 1, None) < 0:
    sys.exit("no keyrings here")
def add(text): return libc.syscall(ADD_KEY, b"user", b"name", text, len(text), SESSION) > 0
def find(): return libc.syscall(KEYCTL, SEARCH, SESSION, b"user", b"name", 0) > 0
print(add(b"secret"), find())
kernel.hide_session_keyring()
print(add(b"secret"), find())
"""
ADD_KEY = {"x86_64": 248, "aarch64": 217}


@unittest.skipUnless(kernel.LINUX and os.uname().machine in ADD_KEY, "keyrings are Linux's")
class Keyring(unittest.TestCase):
    def test_no_key_is_found_or_left_in_the_session_keyring_of_the_platform(self) -> None:
        machine = os.uname().machine
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, machine, str(ADD_KEY[machine])],
            capture_output=True,
            check=False,
            text=True,
        )
        if done.stderr == "no keyrings here\n":
            self.skipTest("the container refuses keyctl")
        self.assertEqual(done.stdout, "True True\nFalse False\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
