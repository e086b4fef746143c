"""What a module did at import that no fork survives, and the sentence that says so."""

import unittest

from service_runner.kernel import LINUX

from .support import read_output

PROGRAM = """
import os, subprocess, sys, threading
from service_runner import opened
from service_runner.fork_safety import find_fork_hazard
project = os.getcwd()
before = opened.list_descriptors()
stop = threading.Event()
{import_of_the_module}
print(find_fork_hazard(before, project))
stop.set()
"""

# The kernel ends a thread a moment after Python has joined it; a slow machine needs longer.
THREAD_THAT_ENDED = """
thread = threading.Thread(target=int)
thread.start()
thread.join()
while len(os.listdir("/proc/self/task")) > 1:
    pass
"""


def find_hazard(import_of_the_module: str) -> str:
    return read_output(PROGRAM.format(import_of_the_module=import_of_the_module)).rstrip("\n")


@unittest.skipUnless(LINUX, "looks into /proc")
class ForkSafety(unittest.TestCase):
    def test_a_module_that_leaves_nothing_is_forked(self) -> None:
        for harmless in (
            "pass",
            THREAD_THAT_ENDED,
            "open(os.__file__).close()",
            "subprocess.run(['true'])",
        ):
            with self.subTest(harmless):
                self.assertEqual(find_hazard(harmless), "None")

    def test_what_a_fork_breaks_or_shares_is_named_with_its_remedy(self) -> None:
        start = "lambda: threading.Thread(target=stop.wait).start()"
        in_child = f"os.register_at_fork(after_in_child={start})"
        hook = "A thread is started, or the process ended, at each fork; do"
        for left, sentence in (
            (
                "threading.Thread(target=stop.wait).start()",
                "A thread was started at import and still runs; start",
            ),
            (
                "child = subprocess.Popen(['cat'], stdin=subprocess.PIPE)",
                "A process was started at import; start",
            ),
            ("pipe = os.pipe()", "A pipe is still open after the import; open"),
            ("os.chdir('/tmp')", "The working directory was changed to /tmp at import; change"),
            ("sys.modules['grpc'] = sys", "The module grpc does not survive a fork; import"),
            (
                "import mmap; shared = mmap.mmap(-1, 4096)",
                "Shared memory (/dev/zero (deleted)) was created at import; create",
            ),
            (in_child, hook),
            ("os.register_at_fork(after_in_child=lambda: os._exit(3))", hook),
            (
                "os.register_at_fork(before=lambda: globals().update(opened_then=os.pipe()))",
                "A pipe is still open after the import; open",
            ),
        ):
            with self.subTest(left):
                self.assertEqual(
                    find_hazard(left), f"{sentence} it inside run() to get fast starts."
                )


if __name__ == "__main__":
    unittest.main()
