"""Functions for a fork, run where CPython itself does not see one."""

import unittest

from .support import read_output, run_python

PROGRAM = """
import os, sys, threading
from service_runner import at_fork
at_fork.watch()
import concurrent.futures.thread, logging, random
log = []
for n in (1, 2):
    os.register_at_fork(
        before=lambda n=n: log.append(f"before {n}"),
        after_in_parent=lambda n=n: log.append(f"parent {n}"),
        after_in_child=lambda n=n: log.append(f"child {n}"),
    )
"""


class Hooks(unittest.TestCase):
    def test_they_run_in_the_order_of_a_fork_and_those_of_the_standard_library_do_not(self) -> None:
        program = """
at_fork.prepare()
at_fork.resume()
at_fork.renew()
print(log)
print([len(hooks) for hooks in at_fork._LISTS.values()])
"""
        expected = ["before 2", "before 1", "parent 1", "parent 2", "child 1", "child 2"]
        self.assertEqual(read_output(PROGRAM + program), f"{expected}\n[2, 2, 2]\n")

    def test_a_fork_by_the_run_itself_runs_them_once(self) -> None:
        program = """
if os.fork() == 0:
    print(log, flush=True)
    os._exit(0)
os.wait()
print(log)
"""
        self.assertEqual(
            read_output(PROGRAM + program),
            "['before 2', 'before 1', 'child 1', 'child 2']\n"
            "['before 2', 'before 1', 'parent 1', 'parent 2']\n",
        )

    def test_an_exception_is_shown_and_stops_nothing(self) -> None:
        program = """
os.register_at_fork(before=lambda: 1 / 0)
at_fork.prepare()
print(log)
"""
        done = run_python(PROGRAM + program)
        self.assertEqual(done.stdout, "['before 2', 'before 1']\n")
        self.assertIn("ZeroDivisionError", done.stderr)

    def test_a_child_draws_other_random_numbers(self) -> None:
        program = """
random.seed(1)
first = random.random()
random.seed(1)
at_fork.renew()
print(random.random() != first)
"""
        self.assertEqual(read_output(PROGRAM + program), "True\n")


if __name__ == "__main__":
    unittest.main()
