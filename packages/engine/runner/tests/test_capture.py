"""stdout and stderr of an execution, as they reach Node."""

import unittest

from service_runner.capture import mark_lines

from .support import read_output, run_python

TAKE_OVER = """
import os, socket, sys
from service_runner import capture
out, taken_out = socket.socketpair()
err, taken_err = socket.socketpair()
kept = os.dup(1)
capture.take_over(taken_out.detach(), taken_err.detach())

def read_all(connection):
    text = b""
    while part := connection.recv(4096):
        text += part
    return text

def finish():
    capture.release_streams()
    os.dup2(kept, 1)
    print(read_all(out), read_all(err), flush=True)
"""


class Capture(unittest.TestCase):
    def test_prints_of_python_and_of_subprocesses_lead_to_node_until_the_streams_are_released(
        self,
    ) -> None:
        program = """
            print("from Python")
            sys.stdout.flush()
            os.system("echo from a shell; echo its error >&2")
            print("not flushed", end="")
            finish()
        """
        printed = read_output(TAKE_OVER + program.replace("\n            ", "\n"))
        self.assertEqual(
            printed, repr(b"from Python\nfrom a shell\nnot flushed") + " b'its error\\n'\n"
        )

    def test_errors_are_marked_line_by_line_past_a_replaced_stderr(self) -> None:
        program = """
            sys.stderr = None
            capture.write_error("first\\n\\ud800")
            finish()
        """
        printed = read_output(TAKE_OVER + program.replace("\n            ", "\n"))
        self.assertEqual(printed, "b'' " + repr(b"\x1eEfirst\n\x1eE\\ud800\n") + "\n")

    def test_streams_that_user_code_broke_are_flushed_without_an_error(self) -> None:
        program = """
            import os, sys
            from service_runner import capture
            class Broken:
                def flush(self):
                    raise ValueError("closed")
            sys.stdout, sys.stderr = Broken(), None
            capture.flush_streams()
            os._exit(0)
        """
        self.assertEqual(read_output(program), "")

    def test_what_has_no_utf8_form_is_printed_escaped(self) -> None:
        program = """
            from service_runner import capture
            capture.prepare_streams()
            print("\\ud800 \\u00f6")
        """
        self.assertEqual(run_python(program).stdout, "\\ud800 \u00f6\n")

    def test_every_line_has_its_mark(self) -> None:
        for text, expected in (
            ("", "\x1eE\n"),
            ("a", "\x1eEa\n"),
            ("a\nb\n", "\x1eEa\n\x1eEb\n"),
            ("a\n\nb", "\x1eEa\n\x1eE\n\x1eEb\n"),
        ):
            self.assertEqual(mark_lines(text, "E"), expected)


if __name__ == "__main__":
    unittest.main()
