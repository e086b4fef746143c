"""The zygote's hold over the processes below it, tried on real ones."""

import os
import signal
import subprocess
import sys
import time
import unittest
from collections.abc import Callable

from service_runner import processes
from service_runner.kernel import LINUX, PR_SET_CHILD_SUBREAPER, set_process_option

PATIENCE_SECONDS = 30


def wait_until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("waited in vain")
        time.sleep(0.005)


STARTED: list[subprocess.Popen[bytes]] = []


def start(script: str) -> subprocess.Popen[bytes]:
    """A session leader, as an execution is."""
    STARTED.append(subprocess.Popen(["/bin/sh", "-c", script], start_new_session=True))
    return STARTED[-1]


@unittest.skipUnless(LINUX, "looks into /proc")
class Processes(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        set_process_option(PR_SET_CHILD_SUBREAPER, 1)

    def tearDown(self) -> None:
        processes.kill_everything(PATIENCE_SECONDS)
        for process in STARTED:
            process.poll()  # reaped above
        STARTED.clear()

    def test_children_and_descendants_are_listed_and_a_process_that_is_gone_has_none(self) -> None:
        shell = start("sleep 60 & sh -c 'sleep 60 & wait' & wait")
        wait_until(lambda: len(processes.list_descendants(shell.pid)) == 3)
        self.assertEqual(len(processes.list_children(shell.pid)), 2)
        processes.kill_tree(shell.pid)
        shell.wait()
        self.assertEqual(processes.list_children(shell.pid), [])

    def test_a_tree_is_killed_with_what_left_its_session(self) -> None:
        shell = start("setsid sleep 60 & sleep 60 & wait")
        wait_until(lambda: len(processes.list_children(shell.pid)) == 2)
        below = processes.list_descendants(shell.pid)
        processes.kill_tree(shell.pid)
        shell.wait()
        processes.kill_strays(set(), {shell.pid})
        wait_until(lambda: not processes.list_children("self") or not processes._reap_all())
        for pid in below:
            self.assertFalse(os.path.exists(f"/proc/{pid}"))

    def test_strays_of_an_execution_that_ended_are_killed_and_those_of_a_live_one_stay(
        self,
    ) -> None:
        ended = start("setsid sleep 61 & sleep 61 & exit 0")
        live = start("(sleep 62 &); sleep 62")
        ended.wait()
        wait_until(lambda: len(processes.list_children("self")) == 4)
        remaining = processes.kill_strays({live.pid}, {ended.pid})
        self.assertEqual(remaining, {ended.pid})

        def reap_strays() -> bool:
            for pid in processes.list_children("self"):
                if pid != live.pid and os.getsid(pid) != live.pid:
                    os.waitpid(pid, os.WNOHANG)
            return processes.kill_strays({live.pid}, {ended.pid}) == set()

        wait_until(reap_strays)
        self.assertIsNone(live.poll())
        self.assertEqual(len(processes.list_children("self")), 2)

    def test_everything_below_ends_also_what_forks_on(self) -> None:
        start("while true; do sleep 60 & sleep 0.01; done")
        start(f"trap '' TERM; exec {sys.executable} -c 'import time; time.sleep(60)'")
        wait_until(lambda: len(processes.list_descendants("self")) > 5)
        processes.kill_everything(PATIENCE_SECONDS)
        self.assertEqual(processes.list_children("self"), [])

    def test_a_signal_to_what_is_gone_is_no_error(self) -> None:
        gone = start("exit 0")
        gone.wait()
        processes.send_signal(gone.pid, signal.SIGTERM)
        processes.signal_group(gone.pid, signal.SIGTERM)


if __name__ == "__main__":
    unittest.main()
