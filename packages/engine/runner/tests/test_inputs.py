"""Input by reference is read from files."""

from __future__ import annotations

import os
import tempfile
import unittest

from service_runner.failure import Failure
from service_runner.inputs import read_input


class Inputs(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def read(self, offset: int, length: int) -> str:
        parts = {"data": (offset, length)}
        return read_input({"folder": self.folder, "pools": [], "parts": parts}, "data")

    def write(self, content: bytes, name: str = "data") -> None:
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(content)

    def test_any_part_of_a_file_is_read_also_one_that_begins_between_pages(self) -> None:
        content = b"x" * 5000 + '{"city":"K\u00f6ln"}'.encode() + b"y" * 5000
        self.write(content)
        for offset, length in ((0, len(content)), (5000, 16), (4096, 10), (len(content), 0)):
            with self.subTest(offset=offset, length=length):
                expected = content[offset : offset + length].decode()
                self.assertEqual(self.read(offset, length), expected)

    def test_nothing_stays_open(self) -> None:
        self.write(b"{}")
        before = os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd") else []
        self.read(0, 2)
        after = os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd") else []
        self.assertEqual(after, before)

    def test_a_file_that_is_shorter_than_was_said_is_no_input(self) -> None:
        self.write(b"{}")
        self.assert_unavailable("it is shorter than it was", 0, 3)

    def test_a_file_that_is_not_there_is_no_input(self) -> None:
        self.assert_unavailable("No such file or directory", 0, 2)

    def test_a_link_to_another_file_is_not_followed(self) -> None:
        self.write(b"{}", "other")
        os.symlink("other", os.path.join(self.folder, "data"))
        self.assert_unavailable("Too many levels of symbolic links", 0, 2)

    def test_text_that_is_not_utf_8_is_an_error_of_the_text(self) -> None:
        self.write(b"\xff\xfe")
        with self.assertRaises(UnicodeDecodeError):
            self.read(0, 2)

    def assert_unavailable(self, reason: str, offset: int, length: int) -> None:
        with self.assertRaises(Failure) as caught:
            self.read(offset, length)
        self.assertEqual(caught.exception.code, "DATA_REFERENCE_UNAVAILABLE")
        detail = f"The content of dataRef could not be read: {reason}."
        self.assertEqual(caught.exception.detail, detail)


if __name__ == "__main__":
    unittest.main()
