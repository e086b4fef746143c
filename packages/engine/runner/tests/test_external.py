"""What a run of an external backend keeps, and how it hears of its cancellation."""

import os
import signal
import socket
import sys
import threading
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from service_runner import external, wire
from service_runner.external import HANDLE_LIMIT, External, open_external
from service_runner.reporting import open_reporter

from .support import RUNNER

HELPERS = os.path.join(RUNNER, "helpers")
with mock.patch.object(sys, "path", [*sys.path, HELPERS]):
    from platform_service import Cancelled, cancellable, get_handle, keep_handle, was_lost


@contextmanager
def opened(
    handle: str | None = None, lost: bool = False
) -> Iterator[tuple[socket.socket, External]]:
    """Node's end of the connection of a run that goes on in this process."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        reporter = open_reporter(theirs.fileno())
        given = open_external(theirs.fileno(), reporter, {"handle": handle, "wasLost": lost})
        try:
            yield ours, given
        finally:
            reporter.close()
            external._current = None


class Handles(unittest.TestCase):
    def test_a_handle_is_sent_and_kept_once_node_says_so(self) -> None:
        with opened() as (ours, _):
            thread = threading.Thread(target=keep_handle, args=("job 7",))
            thread.start()
            frame = wire.FrameReader(ours.fileno()).read()
            self.assertEqual(frame, (wire.HANDLE, b"job 7"))
            thread.join(0.2)
            self.assertTrue(thread.is_alive())
            self.assertIsNone(get_handle())
            ours.sendall(wire.encode_frame(wire.KEPT))
            thread.join()
            self.assertEqual(get_handle(), "job 7")

    def test_an_attempt_has_what_was_kept_before(self) -> None:
        with opened("job 7", True):
            self.assertEqual((get_handle(), was_lost()), ("job 7", True))
        self.assertEqual((get_handle(), was_lost()), (None, False))
        keep_handle("nothing is kept here")

    def test_what_is_no_handle_is_refused_before_it_is_sent(self) -> None:
        with opened() as (ours, _):
            for text in ("", "x" * (HANDLE_LIMIT + 1), "K\u00f6ln", "a\nb"):
                with self.subTest(text[:5]), self.assertRaises(ValueError):
                    keep_handle(text)
            ours.setblocking(False)
            with self.assertRaises(BlockingIOError):
                ours.recv(1)

    def test_node_that_has_hung_up_is_an_error(self) -> None:
        with opened() as (ours, _):
            ours.shutdown(socket.SHUT_RDWR)
            with self.assertRaises(OSError):
                keep_handle("job 7")

    def test_an_answer_that_a_cancellation_has_interrupted_is_not_that_of_the_next(self) -> None:
        with opened() as (ours, given):
            given._owed = 1
            ours.sendall(wire.encode_frame(wire.KEPT) * 2)
            keep_handle("second")
            self.assertEqual((get_handle(), given._owed), ("second", 0))


class Cancellation(unittest.TestCase):
    def setUp(self) -> None:
        before = signal.getsignal(signal.SIGTERM)
        self.addCleanup(signal.signal, signal.SIGTERM, before)
        patch = mock.patch.object(external, "cancellation", external._Cancellation())
        patch.start()
        self.addCleanup(patch.stop)
        external.listen()

    def test_a_signal_interrupts_what_is_ready_for_it_once(self) -> None:
        with self.assertRaises(Cancelled), cancellable():
            os.kill(os.getpid(), signal.SIGTERM)
            self.fail("it was not interrupted")
        os.kill(os.getpid(), signal.SIGTERM)

    def test_one_that_came_before_interrupts_at_once(self) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        ready = False
        with self.assertRaises(Cancelled), cancellable():
            ready = True
        self.assertFalse(ready)


if __name__ == "__main__":
    unittest.main()
