"""Imports of a project: what is found, and what is said of a project that cannot be used."""

from __future__ import annotations

import json
import os
import tempfile
import unittest
from typing import Any

from .support import read_output

PROGRAM = """
import json, sys
from service_runner.failure import Failure
from service_runner.loader import load_program
try:
    print(json.dumps({"returned": load_program(sys.argv[1], 1 << 30).run()}))
except Failure as failure:
    print(json.dumps(vars(failure)))
"""


def load(source: str | None, *more: tuple[str, str]) -> dict[str, Any]:
    """What a project's `run` returns, or the failure of its import."""
    with tempfile.TemporaryDirectory() as project:
        os.mkdir(os.path.join(project, "src"))
        files = more if source is None else (("src/program.py", source), *more)
        for name, text in files:
            with open(os.path.join(project, name), "w", encoding="utf-8") as file:
                file.write(text)
        outcome: dict[str, Any] = json.loads(read_output(PROGRAM, project))
    return outcome


class Loader(unittest.TestCase):
    def test_run_is_found_with_the_project_as_working_directory_and_first_on_the_path(
        self,
    ) -> None:
        source = "import neighbour\ndef run():\n    return [neighbour.A, open('data').read()]"
        outcome = load(source, ("neighbour.py", "A = 1"), ("data", "text"))
        self.assertEqual(outcome, {"returned": [1, "text"]})

    def test_a_project_that_cannot_be_used_is_explained(self) -> None:
        for source, detail in (
            (None, "The project has no file src/program.py."),
            ("", "src/program.py has no function named run."),
            ("run = 3", "run in src/program.py is not callable, it is of type int."),
            ("import missing", "src/program.py cannot be imported: ModuleNotFoundError: "),
            ("raise SystemExit(0)", "src/program.py cannot be imported: SystemExit: 0"),
            ("def run(", "src/program.py cannot be imported: SyntaxError: "),
            ("def run(other): pass", "run has the parameter 'other': "),
            ("def run(data: 'Missing'): pass", "The hints of run cannot be resolved: NameError: "),
            ("run = dict", "The signature of run cannot be read: ValueError: "),
        ):
            with self.subTest(source):
                outcome = load(source)
                self.assertEqual(outcome["code"], "STARTUP_ERROR")
                self.assertEqual(outcome["detail"][: len(detail)], detail)

    def test_the_traceback_of_an_import_begins_in_the_project(self) -> None:
        lines = load("def fail():\n    raise ValueError('bad')\nfail()")["traceback"].split("\n")
        self.assertRegex(lines[1], 'File ".*/src/program.py", line 3')
        self.assertEqual(lines[-1], "ValueError: bad")


if __name__ == "__main__":
    unittest.main()
