"""The tries of the isolation's pieces, each in a process of its own, which it restricts."""

import base64
import struct
import unittest

from service_runner import landlock
from service_runner.kernel import LINUX

from .support import run_python

_PROGRAM = """
    import sys
    from service_runner.trial import main_trial
    main_trial(sys.argv[1:])
"""
_ALLOW_ALL = base64.b64encode(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000)).decode("ascii")


@unittest.skipUnless(LINUX, "only Linux has these pieces")
class Trials(unittest.TestCase):
    def attempt(self, *arguments: str) -> tuple[int, str]:
        done = run_python(_PROGRAM, *arguments)
        return done.returncode, done.stderr

    @unittest.skipUnless(landlock.find_version() >= landlock.LEAST_VERSION, "needs Landlock")
    def test_landlock_works_when_it_denies(self) -> None:
        self.assertEqual(self.attempt("landlock"), (0, ""))

    def test_a_filter_that_refuses_nothing_does_not_work(self) -> None:
        self.assertEqual(
            self.attempt("seccomp", _ALLOW_ALL),
            (1, "The kernel accepted the filter, and let a call pass that it refuses.\n"),
        )

    def test_a_filter_that_the_kernel_does_not_take_is_named(self) -> None:
        code, errors = self.attempt("seccomp", base64.b64encode(b"\xff" * 8).decode("ascii"))
        self.assertEqual(code, 1)
        self.assertIn("The kernel refused it ([Errno 22]", errors)

    def test_a_piece_that_is_not_known_does_not_work(self) -> None:
        self.assertEqual(self.attempt("luck"), (1, "There is no piece luck.\n"))
