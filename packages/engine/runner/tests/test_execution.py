"""One request, one run, one answer, over a socket as Node has it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
import unittest
from collections.abc import Sequence
from typing import Any

from service_runner import wire

from .support import INTERPRETER, RUNNER

PROGRAM = """
import os, sys
from service_runner.binder import Binder
from service_runner.execution import serve_request
from service_runner.failure import Failure
{definition}
def load():
    return Binder(run)
serve_request(int(sys.argv[1]), load)
"""
OPTIONS: dict[str, Any] = {
    "executionId": "0192",
    "resultBytes": 1000,
    "memory": 1 << 30,
    "linger": False,
}
RETURN_DATA = "def run(data): return data"


def serve(definition: str, *frames: tuple[int, bytes]) -> tuple[list[tuple[int, Any]], str]:
    """The frames of the answer, decoded, and stderr."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        command = [*INTERPRETER, "-c", PROGRAM.format(definition=definition)]
        process = subprocess.Popen(
            [*command, str(theirs.fileno())],
            cwd=RUNNER,
            pass_fds=[theirs.fileno()],
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        theirs.close()
        for kind, payload in frames:
            ours.sendall(wire.encode_frame(kind, payload))
        ours.shutdown(socket.SHUT_WR)
        answer = []
        reader = wire.FrameReader(ours.fileno())
        while (frame := reader.read()) is not None:
            answer.append((frame[0], json.loads(frame[1])))
        _, errors = process.communicate()
    return answer, errors


def run(
    definition: str,
    body: bytes = b'{"data":{"a":1}}',
    pools: Sequence[object] = (),
    **inputs: bytes,
) -> tuple[list[tuple[int, Any]], str]:
    """Serves a whole request; `inputs` are the contents of dataRef and paramsRef."""
    with tempfile.TemporaryDirectory() as folder:
        options = dict(OPTIONS)
        if inputs or pools:
            parts = {name: [0, len(content)] for name, content in inputs.items()}
            options["inputs"] = {"folder": folder, **parts, "pools": list(pools)}
        for name, content in inputs.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)
        return serve(
            definition,
            (wire.REQUEST, json.dumps(options).encode()),
            (wire.BODY, body),
            (wire.START, b""),
        )


class Execution(unittest.TestCase):
    def test_one_that_shall_linger_lives_until_node_has_read_the_answer(self) -> None:
        command = [*INTERPRETER, "-c", PROGRAM.format(definition="def run(): return 1")]
        ours, theirs = socket.socketpair()
        with ours, theirs:
            process = subprocess.Popen(
                [*command, str(theirs.fileno())],
                cwd=RUNNER,
                pass_fds=[theirs.fileno()],
            )
            theirs.close()
            options = json.dumps({**OPTIONS, "linger": True}).encode()
            frames = ((wire.REQUEST, options), (wire.BODY, b"{}"), (wire.START, b""))
            for kind, payload in frames:
                ours.sendall(wire.encode_frame(kind, payload))
            self.assertIsNotNone(wire.FrameReader(ours.fileno()).read())
            with self.assertRaises(subprocess.TimeoutExpired):
                process.wait(0.3)
            ours.close()
            self.assertEqual(process.wait(), 0)

    def test_a_result_follows_its_metadata(self) -> None:
        definition = """
class Envelope:
    result, metadata = [1], {"seconds": 2}
def run(): return Envelope()
"""
        expected = [(wire.METADATA, {"seconds": 2}), (wire.RESULT, {"value": [1]})]
        self.assertEqual(run(definition), (expected, ""))

    def test_inputs_are_those_of_the_body_or_of_the_references(self) -> None:
        definition = (
            "def run(data, params): return [data, params, os.environ['SERVICE_EXECUTION_ID']]"
        )
        for inputs, values in (
            ({}, [{"a": 1}, {}]),
            ({"data": b'{"b":2}', "params": b'{"c":3}'}, [{"b": 2}, {"c": 3}]),
        ):
            expected = [(wire.RESULT, {"value": [*values, "0192"]})]
            self.assertEqual(run(definition, **inputs), (expected, ""))

    def test_a_coroutine_is_awaited(self) -> None:
        self.assertEqual(run("async def run(data): return data"), ([(wire.RESULT, {"a": 1})], ""))

    def test_an_input_that_is_not_json_is_refused_with_its_place(self) -> None:
        for body, detail in (
            (b"[]", "/: must be a JSON object."),
            (b'{"data":NaN}', "/: is not JSON: NaN is not a JSON value."),
            (b"\xff", "/: is not JSON: 'utf-8' codec can't decode"),
            (b"[" * 100_000, "/: is nested too deeply."),
        ):
            with self.subTest(detail):
                [(kind, failure)], _ = run(RETURN_DATA, body)
                self.assertEqual((kind, failure["code"]), (wire.FAILURE, "INVALID_INPUT"))
                self.assertEqual(failure["detail"][: len(detail)], detail)

    def test_an_input_by_reference_that_is_not_json_is_refused_with_its_place(self) -> None:
        for content, detail in (
            (b"", "/params: is not JSON: Expecting value"),
            (b"{", "/params: is not JSON: Expecting property name"),
            (b'{"a":"\xff"}', "/params: is not JSON: 'utf-8' codec can't decode"),
        ):
            with self.subTest(detail):
                [(kind, failure)], _ = run(RETURN_DATA, params=content)
                self.assertEqual((kind, failure["code"]), (wire.FAILURE, "INVALID_INPUT"))
                self.assertEqual(failure["detail"][: len(detail)], detail)

    def test_what_run_raises_is_the_failure_and_its_traceback_is_printed_as_an_error(self) -> None:
        for raised, code in (
            ("ValueError('bad')", "EXECUTION_ERROR"),
            ("SystemExit(0)", "EXECUTION_ERROR"),
            ("MemoryError()", "OUT_OF_MEMORY"),
            ("ConnectionRefusedError()", "CONNECTION_ERROR"),
            ("type('Mine', (Exception,), {'code': 'MINE', 'detail': 'd'})", "MINE"),
        ):
            with self.subTest(raised):
                [(kind, failure)], errors = run(f"def run(): raise {raised}")
                self.assertEqual((kind, failure["code"]), (wire.FAILURE, code))
                lines = errors.removesuffix("\n").split("\n")
                self.assertEqual({line[:2] for line in lines}, {"\x1eE"})
                self.assertNotIn("service_runner", errors)

    def test_of_a_refusal_the_log_has_its_text_and_no_lines_of_the_program(self) -> None:
        members = "{'code': 'MINE', 'detail': 'd', 'is_refusal': True}"
        definition = f"Mine = type('Mine', (Exception,), {members})\n"
        for raised, has_traceback in (
            ("raise Mine('no')", False),
            ("raise Mine('no') from None", False),
            ("raise Mine('no') from ValueError('bad')", True),
        ):
            with self.subTest(raised):
                [(_, failure)], errors = run(f"{definition}def run(): {raised}")
                self.assertEqual(failure["code"], "MINE")
                self.assertIn("Mine: no", errors)
                self.assertEqual("Traceback" in errors, has_traceback)

    def test_only_the_execution_itself_answers_when_run_forks(self) -> None:
        for end_of_the_child in ("pass", "raise ValueError"):
            definition = f"""
def run():
    if os.fork() == 0:
        {end_of_the_child}
    else:
        os.wait()
    return 1
"""
            self.assertEqual(run(definition), ([(wire.RESULT, {"value": 1})], ""))

    def test_a_result_above_its_limit_is_a_failure(self) -> None:
        [(_, failure)], _ = run("def run(): return 'x' * 1000")
        self.assertEqual(failure["code"], "RESULT_TOO_LARGE")

    def test_a_connection_that_closes_before_the_start_runs_nothing(self) -> None:
        definition = "def run(): os.write(2, b'ran')"
        self.assertEqual(serve(definition), ([], ""))
        unstarted = (wire.REQUEST, json.dumps(OPTIONS).encode())
        self.assertEqual(serve(definition, unstarted), ([], ""))
        self.assertEqual(serve(definition, (wire.START, b"")), ([], ""))


if __name__ == "__main__":
    unittest.main()
