"""`python -m tests` runs all tests and prints a JSON line for each: its name, status and errors."""

import json
import os
import sys
import traceback
import unittest
from types import TracebackType
from typing import Any

Error = tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]


class LineResult(unittest.TestResult):
    """Prints when a test ends; subtests belong to their test."""

    def __init__(self) -> None:
        super().__init__()
        self._errors: list[str] = []
        self._status = "passed"

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self._errors, self._status = [], "passed"

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self._status = "skipped"

    def addFailure(self, test: unittest.TestCase, err: Error) -> None:
        super().addFailure(test, err)
        self._fail(test, err)

    def addError(self, test: unittest.TestCase, err: Error) -> None:
        super().addError(test, err)
        self._fail(test, err)
        if not isinstance(test, unittest.TestCase):  # setUpClass failed: there is no test to end
            self._print(str(test))

    def addSubTest(self, test: Any, subtest: Any, err: Error | None) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._fail(subtest, err)

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        kind, _, method = test.id().removeprefix("tests.test_").rpartition(".")
        module = kind.partition(".")[0]
        self._print(f"{module}: {method.removeprefix('test_').replace('_', ' ')}")

    def _fail(self, test: object, err: Error) -> None:
        self._status = "failed"
        self._errors.append(f"{test}\n{''.join(traceback.format_exception(*err))}")

    def _print(self, name: str) -> None:
        line = {"name": name, "status": self._status, "errors": "\n".join(self._errors)}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    suite = unittest.defaultTestLoader.discover(here, top_level_dir=os.path.dirname(here))
    suite.run(LineResult())
    sys.exit(0)  # the lines say what failed
