"""Joining groups, with ordinary files in place of the control files."""

from __future__ import annotations

import os
import tempfile
import unittest

from service_runner import cgroup

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
