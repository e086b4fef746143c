"""A child says which process it is, and waits, where it must, until Node has limited it."""

from __future__ import annotations

import os
import socket
import unittest

from service_runner import admission, wire

from .support import run_python


class Admission(unittest.TestCase):
    def test_a_child_that_is_admitted_goes_on_and_leaves_what_follows_unread(self) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            theirs.sendall(wire.ADMITTED + b"next")
            admission.await_admission(ours.fileno())
            self.assertEqual(ours.recv(9), b"next")
            self.assertEqual(theirs.recv(99), wire.encode_call(os.getpid()))

    def test_a_child_whose_connection_is_closed_or_says_something_else_does_not(self) -> None:
        for said in (b"", wire.encode_frame(wire.START)):
            ours, theirs = socket.socketpair()
            with ours, theirs, self.assertRaises(ConnectionError):
                theirs.sendall(said)
                theirs.shutdown(socket.SHUT_WR)
                admission.await_admission(ours.fileno())

    def test_a_child_knows_its_number_as_its_zygote_numbers_processes(self) -> None:
        self.assertEqual(admission.read_number(), os.getpid())

    def test_a_child_that_cannot_begin_ends_itself_and_nothing_else(self) -> None:
        done = run_python("""
            import os
            from service_runner.children import Children
            class Nothing:
                def list_descriptors(self): return []
            zygote = Children.__new__(Children)
            zygote._wakeup, zygote._home = (999,), Nothing()
            pid = os.fork()
            if pid == 0:
                try:
                    zygote._become_child(7, None)
                finally:
                    os._exit(1)  # where the loop would end all children
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        """)
        self.assertEqual(done.stdout, "70\n")
        self.assertIn("child 7 could not start: OSError: [Errno 9]", done.stderr)


if __name__ == "__main__":
    unittest.main()
