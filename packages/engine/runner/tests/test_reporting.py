"""`report` and `checkpoint` of user code, and the frames that Node gets."""

import dataclasses
import json
import math
import os
import socket
import sys
import threading
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any
from unittest import mock

from service_runner import reporting, wire
from service_runner.reporting import CHECKPOINT_LIMIT, MESSAGE_LIMIT, open_reporter

from .support import RUNNER, run_python
from .test_execution import run

HELPERS = os.path.join(RUNNER, "helpers")
with mock.patch.object(sys, "path", [*sys.path, HELPERS]):
    from platform_service import checkpoint, report

IMPORT = f"import sys; sys.path.append({HELPERS!r}); from platform_service import *\n"


@contextmanager
def opened() -> Iterator[socket.socket]:
    """Node's end of the connection of a run that goes on in this process."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        reporter = open_reporter(theirs.fileno())
        try:
            yield ours
        finally:
            reporter.close()


def read_all(ours: socket.socket, last: object) -> list[tuple[int, Any]]:
    """The frames until one that has this value."""
    reader = wire.FrameReader(ours.fileno())
    frames: list[tuple[int, Any]] = []
    while not frames or frames[-1][1] != last:
        frame = reader.read()
        assert frame is not None
        frames.append((frame[0], json.loads(frame[1])))
    return frames


@dataclasses.dataclass
class Tour:
    cities: list[str]


@dataclasses.dataclass
class Envelope:
    result: object
    metadata: object = None


class Model:
    def model_dump(self, mode: str) -> dict[str, str]:
        return {"mode": mode}


class Reporting(unittest.TestCase):
    def test_what_is_reported_goes_ahead_of_the_answer(self) -> None:
        answer, _ = run(
            IMPORT + "def run(data):\n report(0.5, 'half'); checkpoint({'a': 1})\n return data"
        )
        self.assertEqual(
            answer,
            [
                (wire.PROGRESS, {"fraction": 0.5, "message": "half"}),
                (wire.CHECKPOINT, {"a": 1}),
                (wire.RESULT, {"a": 1}),
            ],
        )

    def test_the_last_of_a_flood_goes_ahead_of_the_answer_whatever_ends_the_run(self) -> None:
        flood = IMPORT + "def run(data):\n for n in range(5000): checkpoint({'n': n})\n "
        for end, kind in [("return {}", 17), ("raise KeyError(1)", 18), ("sys.exit(3)", 18)]:
            answer, _ = run(flood + end)
            self.assertEqual(answer[-2], (wire.CHECKPOINT, {"n": 4999}), end)
            self.assertEqual(answer[-1][0], kind, end)
            self.assertLess(len(answer), 1000, end)

    def test_the_last_of_a_flood_arrives_though_nothing_follows(self) -> None:
        with opened() as ours:
            for number in range(1000):
                checkpoint({"n": number})
            self.assertLess(len(read_all(ours, {"n": 999})), 900)

    def test_the_thread_that_sends_later_ends(self) -> None:
        with opened() as ours:
            for number in range(100):
                report(number / 100)
            reporter = reporting.get_reporter()
            assert reporter is not None
            thread = reporter._thread
            assert thread is not None
            read_all(ours, {"fraction": 0.99, "message": ""})
            thread.join()
            self.assertIsNone(reporter._thread)

    def test_without_a_thread_the_message_goes_at_once(self) -> None:
        refusal = RuntimeError("can't start new thread")
        with opened() as ours, mock.patch.object(threading.Thread, "start", side_effect=refusal):
            for number in range(100):
                checkpoint({"n": number})
            self.assertEqual(len(read_all(ours, {"n": 99})), 100)

    def test_threads_that_report_at_a_time_break_no_frame(self) -> None:
        with opened() as ours:
            text = "x" * 100_000

            def flood() -> None:
                for _ in range(50):
                    checkpoint({"x": text})

            many = [threading.Thread(target=flood) for _ in range(4)]

            def end() -> None:
                for thread in many:
                    thread.join()
                checkpoint({"last": True})

            last = threading.Thread(target=end)
            for thread in [*many, last]:
                thread.start()
            frames = read_all(ours, {"last": True})
            last.join()
            self.assertEqual({kind for kind, _ in frames}, {wire.CHECKPOINT})

    def test_a_fraction_is_a_number_from_0_to_1(self) -> None:
        bad = [math.nan, math.inf, -0.1, 1.01, "0.5", b"1", True, None, [1], 1j, "\ud800"]
        with opened():
            for value in bad:
                with self.assertRaises(ValueError, msg=repr(value)):
                    report(value)  # type: ignore[arg-type]
            for message in (None, 3, b"half"):
                with self.assertRaises(ValueError, msg=repr(message)):
                    report(0.5, message)  # type: ignore[arg-type]

    def test_numbers_of_other_types_are_fractions(self) -> None:
        with opened() as ours:
            report(Decimal("0.25"))  # type: ignore[arg-type]
            report(1)
            fractions = [
                item["fraction"] for _, item in read_all(ours, {"fraction": 1.0, "message": ""})
            ]
            self.assertEqual(fractions, [0.25, 1.0])

    def test_a_message_is_cut_between_characters_and_has_no_half_ones(self) -> None:
        with opened() as ours:
            report(0, "\ud800" + "\U0001f600" * 400)
            ((_, item),) = read_all(ours, {"fraction": 0.0, "message": "?" + "\U0001f600" * 249})
            self.assertLess(len(item["message"].encode("utf-16-le")) // 2, MESSAGE_LIMIT)

    def test_a_checkpoint_is_converted_as_a_result_is(self) -> None:
        cases: list[tuple[object, object]] = [
            ({"a": 1}, {"a": 1}),
            (Tour(["Berlin"]), {"cities": ["Berlin"]}),
            (Model(), {"mode": "json"}),
            ([1, 2], {"value": [1, 2]}),
            (None, {}),
            (Envelope({"b": 2}), {"b": 2}),
            ({"s": "\ud800"}, {"s": "\ud800"}),
        ]
        for value, expected in cases:
            with opened() as ours:
                checkpoint(value)
                self.assertEqual(read_all(ours, expected), [(wire.CHECKPOINT, expected)])

    def test_what_is_no_checkpoint_is_refused_in_user_code(self) -> None:
        deep: object = 1
        for _ in range(201):
            deep = [deep]
        cases = [
            (object(), "not JSON"),
            ({"a": math.nan}, "the number nan at /a"),
            ({"a": deep}, "200 levels"),
            ({"a": "x" * CHECKPOINT_LIMIT}, "the limit is 1048576 bytes"),
        ]
        with opened() as ours:
            for value, reason in cases:
                with self.assertRaises(ValueError) as raised:
                    checkpoint(value)
                self.assertIn(reason, str(raised.exception))
            report(1)
            self.assertEqual(len(read_all(ours, {"fraction": 1.0, "message": ""})), 1)

    def test_after_the_answer_nothing_is_sent(self) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            open_reporter(theirs.fileno()).close()
            checkpoint({"late": True})
            theirs.shutdown(socket.SHUT_WR)
            self.assertEqual(ours.recv(1), b"")

    def test_a_connection_that_was_closed_ends_no_run(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            ours.close()
            reporter = open_reporter(theirs.fileno())
            report(0.5)
            self.assertFalse(reporter.is_open())

    def test_processes_that_the_run_has_started_send_nothing(self) -> None:
        child = "if os.fork() == 0:\n  checkpoint({'forged': 1}); report(1); os._exit(0)"
        answer, errors = run(
            IMPORT + f"import os\ndef run(data):\n {child}\n os.wait()\n return {{}}"
        )
        self.assertEqual(answer, [(wire.RESULT, {})])
        self.assertEqual(errors.count("no effect here"), 1)

    def test_outside_a_run_it_is_said_once_that_nothing_happens(self) -> None:
        done = run_python(IMPORT + "report(0.5); checkpoint({}); report(1, 'x')")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("no effect here"), 1)


if __name__ == "__main__":
    unittest.main()
