"""Calls that are made ready in one process and made in another."""

import os
import tempfile
import unittest

from service_runner.calls import Calls
from service_runner.kernel import LINUX


@unittest.skipUnless(LINUX, "calls are Linux's")
class Making(unittest.TestCase):
    def test_calls_are_made_in_turn_and_use_what_those_before_have_opened(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "file")
            calls = Calls()
            opened = calls.add_opening("open", path.encode(), os.O_CREAT | os.O_WRONLY, 0o600)
            calls.add("write", opened, b"one", 3)
            calls.add("close", opened)
            calls.add_writing(path, b"two!")
            for _ in range(2):  # as each of several children does
                calls.make()
                with open(path, "rb") as file:
                    self.assertEqual(file.read(), b"two!")
                with self.assertRaises(OSError):
                    os.fstat(opened.value)

    def test_the_first_call_that_fails_says_why_and_is_the_last(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            calls = Calls()
            calls.add_writing(os.path.join(folder, "absent"), b"text")
            calls.add("mkdir", os.path.join(folder, "after").encode(), 0o700)
            with self.assertRaises(FileNotFoundError) as caught:
                calls.make()
            self.assertEqual(str(caught.exception), "[Errno 2] open: No such file or directory")
            self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    unittest.main()
