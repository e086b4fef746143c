"""Joining groups, with ordinary files in place of the control files."""

from __future__ import annotations

import os
import tempfile
import unittest

from service_runner import cgroup

from .support import run_python

FIRST = 200


class Join(unittest.TestCase):
    def test_a_child_joins_its_own_groups_and_keeps_no_descriptor_of_any(self) -> None:
        every = [FIRST, FIRST + 1]
        with tempfile.TemporaryFile() as own, tempfile.TemporaryFile() as other:
            for file, number in zip((other, own), every, strict=True):
                os.dup2(file.fileno(), number)
            cgroup.join(every[1:], every)
            self.assertEqual([os.pread(file.fileno(), 9, 0) for file in (other, own)], [b"", b"0"])
        for number in every:
            with self.assertRaises(OSError):
                os.fstat(number)

    def test_without_groups_nothing_is_closed(self) -> None:
        cgroup.join([], [])
        os.fstat(0)

    def test_a_child_that_cannot_join_ends_itself_and_nothing_else(self) -> None:
        done = run_python("""
            import os
            from service_runner.children import Children
            zygote = Children.__new__(Children)
            zygote._boot = {"joins": [999]}
            zygote._wakeup = ()
            pid = os.fork()
            if pid == 0:
                try:
                    zygote._become_child(7, [999], None)
                finally:
                    os._exit(1)  # where the loop would end all children
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        """)
        self.assertEqual(done.stdout, "70\n")
        self.assertIn("child 7 could not start: OSError: [Errno 9]", done.stderr)
