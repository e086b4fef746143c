"""What a backend says of itself, and why it says nothing."""

from __future__ import annotations

import sys
import types
import unittest

from service_runner.description import describe_backend
from service_runner.failure import Failure


class Description(unittest.TestCase):
    def describe(self, describe: object) -> object:
        module = types.ModuleType("src.program")
        module.describe = describe  # type: ignore[attr-defined]
        sys.modules["src.program"] = module
        self.addCleanup(sys.modules.pop, "src.program", None)
        return describe_backend()

    def test_it_is_what_describe_returns_as_json(self) -> None:
        self.assertEqual(self.describe(lambda: {"bits": (1, 2)}), {"bits": [1, 2]})

    def test_what_is_no_description_is_a_failure(self) -> None:
        for wrong in (None, lambda: [1], lambda: {"at": float("nan")}, lambda: 1 // 0):
            with self.assertRaises(Failure) as raised:
                self.describe(wrong)
            self.assertEqual(raised.exception.code, "BACKEND_NOT_DESCRIBED")
