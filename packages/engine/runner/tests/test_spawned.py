"""What a fresh interpreter says of an import that failed."""

from __future__ import annotations

import json
import unittest

from service_runner.spawned import encode_cause


class CauseTest(unittest.TestCase):
    def test_a_reason_of_any_length_is_one_that_node_reads(self) -> None:
        text = "\N{GRINNING FACE}" * 100_000
        cause = encode_cause("STARTUP_ERROR", text, text + "the end")
        self.assertLess(len(cause), 32 * 1024)
        self.assertTrue(json.loads(cause)["traceback"].endswith("the end"))

    def test_a_failure_without_a_traceback_has_none(self) -> None:
        self.assertIsNone(json.loads(encode_cause("STARTUP_ERROR", "x", None))["traceback"])
