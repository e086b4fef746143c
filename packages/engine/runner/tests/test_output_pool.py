"""The output pool on its way to the argument of `run`, and the object that user code gets."""

import dataclasses
import os
import pathlib
import socket
import sys
import tempfile
import types
import typing
import unittest
from unittest import mock

from service_runner import wire
from service_runner.binder import Binder
from service_runner.failure import Failure, InvalidInput
from service_runner.inputs import place_output
from service_runner.messages import OutputLimits
from service_runner.output_files import POOL_SUFFIX, send_output
from service_runner.pinned_pool import PinnedOutput, PinnedPool
from service_runner.schema import derive_schemas

from .support import RUNNER

with mock.patch.object(sys, "path", [*sys.path, os.path.join(RUNNER, "helpers")]):
    from platform_service import DataPool, OutputPool

POOL_ID = "11111111-1111-4111-8111-111111111111"
LIMITS: OutputLimits = {"count": 3, "bytes": 1000}


@dataclasses.dataclass
class Params:
    tours: OutputPool
    maps: DataPool | None = None


class Case(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.output = os.path.join(scratch.name, "output")
        self.folder = self.output + POOL_SUFFIX
        os.mkdir(self.output)


class Arguments(Case):
    def place(self, values: dict[str, typing.Any], *path: str) -> dict[str, typing.Any]:
        place_output({"path": list(path), "id": POOL_ID}, self.folder, values)
        return values

    def test_a_folder_takes_the_place_of_the_value_that_names_the_pool(self) -> None:
        def of_dataclass(params: Params) -> OutputPool:
            return params.tours

        def of_itself(params: OutputPool) -> OutputPool:
            return params

        for function, path in (
            (of_dataclass, ["params", "tours"]),
            (of_itself, ["params"]),
        ):
            with self.subTest(function.__name__):
                given = {"data": {}, "params": {"tours": {"dataPoolId": POOL_ID}}}
                _, named = Binder(function).bind(self.place(given, *path))
                pool = function(**named)
                self.assertEqual((pool.id, pool.path), (POOL_ID, self.folder))
                self.assertEqual(os.listdir(pool), [])

    def test_what_is_no_output_pool_is_refused_with_its_place(self) -> None:
        def function(params: Params) -> None: ...

        for value in ({"dataPoolId": POOL_ID}, None, PinnedPool(POOL_ID, "/in/x", {})):
            with self.subTest(value), self.assertRaises(InvalidInput) as caught:
                Binder(function).bind({"data": {}, "params": {"tours": value}})
            self.assertIn("/params/tours", str(caught.exception.detail))
        with self.assertRaises(InvalidInput):
            Binder(function).bind(
                self.place({"data": {}, "params": {"tours": None}}, "params", "maps")
            )

    def test_the_schema_says_what_callers_pass(self) -> None:
        def function(params: Params) -> None: ...

        schema, _ = derive_schemas(Binder(function))
        assert schema is not None
        self.assertEqual(schema["$defs"]["OutputPool"], OutputPool.describe())
        members = schema["$defs"]["Params"]["properties"]
        self.assertEqual(members["tours"], {"$ref": "#/$defs/OutputPool"})

    def test_pydantic_makes_the_same_of_it(self) -> None:
        core = types.SimpleNamespace(no_info_plain_validator_function=lambda accept: accept)
        with mock.patch.dict(sys.modules, {"pydantic_core": mock.Mock(core_schema=core)}):
            accept = OutputPool.__get_pydantic_core_schema__(None, None)
        pool = accept(PinnedOutput(POOL_ID, "/tmp/x"))
        self.assertEqual((pool.id, os.fspath(pool)), (POOL_ID, "/tmp/x"))
        self.assertIs(accept(pool), pool)
        self.assertEqual(OutputPool.__get_pydantic_json_schema__(None, None), OutputPool.describe())
        for value in ({"dataPoolId": POOL_ID}, None, PinnedPool(POOL_ID, "/in/x", {})):
            with self.assertRaises(ValueError):
                accept(value)


class Writing(Case):
    def test_it_writes_files_of_its_folder_alone(self) -> None:
        pool = OutputPool(self.output)
        with pool.open("a.txt") as file:
            file.write("Köln")
        with pool.open("b", "wb") as file:
            file.write(b"\0")
        self.assertEqual(pathlib.Path(self.output, "a.txt").read_bytes(), "Köln".encode())
        self.assertEqual(pool.file("b"), os.path.join(self.output, "b"))
        self.assertIsNone(pool.id)
        for name in ("", ".", "..", "../a", "/etc/passwd", "a/b", "a\0b"):
            with self.subTest(name), self.assertRaises(ValueError):
                pool.open(name)


class Sending(Case):
    def send(self, has_pool: bool) -> list[tuple[int, bytes]]:
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                send_output(theirs.fileno(), self.output, LIMITS, has_pool)
            reader = wire.FrameReader(ours.fileno())
            frames = []
            while (frame := reader.read()) is not None:
                frames.append((frame[0], bytes(frame[1])))
            return frames

    def write(self, folder: str, name: str, content: bytes = b"") -> None:
        pathlib.Path(folder, name).write_bytes(content)

    def test_the_files_of_both_folders_are_told_apart(self) -> None:
        os.mkdir(self.folder)
        self.write(self.output, "a", b"1")
        self.write(self.folder, "a", b"2")
        os.mkfifo(os.path.join(self.folder, "pipe"))
        expected = [
            (wire.FILE, b"a"),
            (wire.CONTENT, b"1"),
            (wire.POOL_FILE, b"a"),
            (wire.CONTENT, b"2"),
            (wire.OMITTED, b'[["pipe", "in the output pool: it is a pipe"]]'),
        ]
        self.assertEqual(self.send(True), expected)
        self.assertEqual(self.send(False), expected[:2])

    def test_a_folder_that_became_a_link_or_is_gone_has_no_files(self) -> None:
        self.assertEqual(self.send(True), [])
        os.symlink("/etc", self.folder)
        self.assertEqual(self.send(True), [])

    def test_too_much_is_said_before_anything_is_sent(self) -> None:
        os.mkdir(self.folder)
        self.write(self.output, "a")
        self.write(self.folder, "large", b"x" * 1001)
        self.refuse()
        os.remove(os.path.join(self.folder, "large"))
        for number in range(4):
            self.write(self.folder, str(number))
        self.refuse()

    def refuse(self) -> None:
        with self.assertRaises(Failure) as caught:
            self.send(True)
        self.assertEqual(caught.exception.code, "RESULT_TOO_LARGE")
        self.assertIn("The output pool", str(caught.exception.detail))
