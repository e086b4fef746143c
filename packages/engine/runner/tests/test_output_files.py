"""What of OUTPUT_DIRECTORY is sent, and what is not."""

from __future__ import annotations

import json
import os
import signal
import socket
import tempfile
import threading
import unittest
from typing import Any

from service_runner import wire
from service_runner.failure import Failure
from service_runner.output_files import open_output, send_output

LIMITS: Any = {"count": 10, "bytes": 3_000_000}


class Output(unittest.TestCase):
    """A folder as user code may leave it."""

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = os.path.join(scratch.name, "output")
        os.mkdir(self.folder)

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def write(self, name: str, content: bytes = b"content") -> None:
        with open(self.path(name), "wb") as file:
            file.write(content)

    def send(self, limits: Any = LIMITS) -> tuple[dict[str, bytes], dict[str, str]]:
        """The files that Node gets, and why others are left out."""
        ours, theirs = socket.socketpair()
        frames: list[tuple[int, bytes]] = []

        def read() -> None:
            reader = wire.FrameReader(ours.fileno())
            while (frame := reader.read()) is not None:
                frames.append((frame[0], bytes(frame[1])))

        with ours, theirs:
            thread = threading.Thread(target=read)
            thread.start()
            try:
                send_output(theirs.fileno(), self.folder, limits, has_pool=False)
            finally:
                theirs.shutdown(socket.SHUT_WR)
                thread.join()
        files: dict[str, bytes] = {}
        omitted: dict[str, str] = {}
        name = ""
        for kind, payload in frames:
            if kind == wire.FILE:
                name = payload.decode()
                files[name] = b""
            elif kind == wire.CONTENT:
                files[name] += payload
            else:
                self.assertEqual(kind, wire.OMITTED)
                omitted.update(json.loads(payload))
        return files, omitted

    def test_files_are_sent_in_pieces_by_name(self) -> None:
        large = os.urandom(2_500_000)
        self.write("b.bin", large)
        self.write("empty", b"")
        self.write("Köln.txt")
        expected = {"b.bin": large, "empty": b"", "Köln.txt": b"content"}
        self.assertEqual(self.send(), (expected, {}))

    def test_nothing_is_sent_of_a_folder_that_is_empty_gone_or_a_link(self) -> None:
        self.assertEqual(self.send(), ({}, {}))
        os.rmdir(self.folder)
        self.assertEqual(self.send(), ({}, {}))
        os.symlink("/etc", self.folder)
        self.assertEqual(self.send(), ({}, {}))

    def test_what_is_no_file_of_its_own_is_left_out_with_a_reason(self) -> None:
        self.write("good")
        os.symlink("/etc/passwd", self.path("link"))
        os.symlink("nowhere", self.path("dangling"))
        os.mkfifo(self.path("pipe"))
        os.mkdir(self.path("folder"))
        self.write("twice")
        os.link(self.path("twice"), self.path("other"))
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(self.path("socket"))
        files, omitted = self.send()
        self.assertEqual(files, {"good": b"content"})
        self.assertEqual(
            omitted,
            {
                "link": "it is a symbolic link",
                "dangling": "it is a symbolic link",
                "pipe": "it is a pipe",
                "folder": "it is a folder: pack its files, or write them beside each other",
                "twice": "it has other names: a hard link",
                "other": "it has other names: a hard link",
                "socket": "it is a socket",
            },
        )

    def test_a_file_that_becomes_a_pipe_after_it_was_found_keeps_nobody_waiting(self) -> None:
        self.write("file")
        output = open_output(self.folder, LIMITS, wire.FILE)
        assert output is not None
        os.unlink(self.path("file"))
        os.mkfifo(self.path("file"))

        def give_up(*_: object) -> None:
            raise TimeoutError

        before = signal.signal(signal.SIGALRM, give_up)
        self.addCleanup(lambda: signal.signal(signal.SIGALRM, before))
        self.addCleanup(lambda: signal.alarm(0))
        signal.alarm(30)
        ours, theirs = socket.socketpair()
        with ours, theirs, self.assertRaises(Failure) as raised:
            output.send(theirs.fileno())
        self.assertIn("was changed", raised.exception.detail)

    def test_a_device_is_not_opened(self) -> None:
        try:
            os.mknod(self.path("device"), 0o20600, os.makedev(1, 3))
        except OSError as error:
            self.skipTest(f"nobody may make a device here: {error}")
        self.assertEqual(self.send(), ({}, {"device": "it is a device"}))

    def test_a_file_that_may_not_be_read_is_left_out(self) -> None:
        self.write("closed")
        os.chmod(self.path("closed"), 0)
        files, omitted = self.send()
        # Root may.
        if os.geteuid() == 0:
            self.assertEqual((files, omitted), ({"closed": b"content"}, {}))
        else:
            reason = "it cannot be read: Permission denied"
            self.assertEqual((files, omitted), ({}, {"closed": reason}))

    def test_a_folder_that_may_not_be_read_fails_instead_of_having_no_files(self) -> None:
        self.write("lost")
        os.chmod(self.folder, 0)
        self.addCleanup(os.chmod, self.folder, 0o700)
        child = os.fork()
        if child == 0:
            # Root may read everything.
            if os.geteuid() == 0:
                os.setuid(65534)
            try:
                open_output(self.folder, LIMITS, wire.FILE)
            except Failure as failure:
                expected = failure.code == "INVALID_RESULT" and "OUTPUT_DIRECTORY" in failure.detail
                os._exit(0 if expected else 1)
            os._exit(2)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_a_name_that_is_no_text_is_left_out(self) -> None:
        with open(os.path.join(os.fsencode(self.folder), b"\xff"), "wb"):
            pass
        self.assertEqual(self.send(), ({}, {"\ufffd": "its name is not UTF-8"}))

    def test_too_many_entries_are_too_much_whatever_they_are(self) -> None:
        for number in range(6):
            self.write(str(number))
            os.symlink("x", self.path(f"link {number}"))
        with self.assertRaises(Failure) as raised:
            self.send()
        self.assertEqual(raised.exception.code, "RESULT_TOO_LARGE")
        self.assertIn("the limit is 10 entries", raised.exception.detail)

    def test_too_many_bytes_are_not_read_also_where_they_are_holes(self) -> None:
        with open(self.path("sparse"), "wb") as file:
            file.truncate(1 << 40)
        with self.assertRaises(Failure) as raised:
            self.send()
        self.assertEqual(raised.exception.code, "RESULT_TOO_LARGE")
        self.assertIn("the limit is 3000000 bytes", raised.exception.detail)

    def test_a_file_that_is_changed_after_it_was_found_fails(self) -> None:
        self.write("changing", b"x" * 2_000_000)
        output = open_output(self.folder, LIMITS, wire.FILE)
        assert output is not None
        ours, theirs = socket.socketpair()
        with ours, theirs:

            def read() -> None:
                ours.recv(1 << 16)
                self.write("changing", b"y" * 1_000)
                while ours.recv(1 << 16):
                    pass

            thread = threading.Thread(target=read)
            thread.start()
            with self.assertRaises(Failure) as raised:
                output.send(theirs.fileno())
            theirs.shutdown(socket.SHUT_WR)
            thread.join()
        self.assertEqual(raised.exception.code, "INVALID_RESULT")
        self.assertIn("changed while it was read", raised.exception.detail)

    def test_a_file_that_becomes_a_link_after_it_was_found_is_not_followed(self) -> None:
        self.write("swapped")
        output = open_output(self.folder, LIMITS, wire.FILE)
        assert output is not None
        os.remove(self.path("swapped"))
        os.symlink("/etc/passwd", self.path("swapped"))
        ours, theirs = socket.socketpair()
        with ours, theirs:
            output.send(theirs.fileno())
            theirs.shutdown(socket.SHUT_WR)
            self.assertIsNone(wire.FrameReader(ours.fileno()).read())
        self.assertEqual([name for name, _ in output.omitted], ["swapped"])
