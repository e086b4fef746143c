"""A data pool on its way to the argument of `run`, and the object that user code gets."""

import dataclasses
import os
import pathlib
import sys
import tempfile
import types
import typing
import unittest
from unittest import mock

from service_runner import wire
from service_runner.binder import Binder
from service_runner.failure import InvalidInput
from service_runner.inputs import place_pools
from service_runner.messages import InputFiles
from service_runner.pinned_pool import PinnedPool
from service_runner.schema import derive_schemas

from .support import RUNNER
from .test_execution import run

with mock.patch.object(sys, "path", [*sys.path, os.path.join(RUNNER, "helpers")]):
    from platform_service import DataPool

POOL_ID = "11111111-1111-4111-8111-111111111111"


@dataclasses.dataclass
class Params:
    maps: DataPool
    more: DataPool | None = None
    factor: int = 1


class Wanted(typing.TypedDict):
    maps: DataPool


def make_folder(case: unittest.TestCase, **files: str) -> str:
    folder = tempfile.TemporaryDirectory()
    case.addCleanup(folder.cleanup)
    for name, content in files.items():
        pathlib.Path(folder.name, name).write_text(content, encoding="utf-8")
    return folder.name


class Arguments(unittest.TestCase):
    def place(self, values: dict[str, typing.Any], *path: str) -> dict[str, typing.Any]:
        files: InputFiles = {
            "folder": "/in/x",
            "parts": {},
            "pools": [{"path": list(path), "id": POOL_ID, "files": [("a.json", 3)]}],
        }
        place_pools(files, values)
        return values

    def test_a_pool_takes_the_place_of_the_value_that_names_it(self) -> None:
        def of_dataclass(params: Params) -> DataPool:
            return params.maps

        def of_typed_dict(params: Wanted) -> DataPool:
            return params["maps"]

        def of_itself(params: DataPool) -> DataPool:
            return params

        for function, path in (
            (of_dataclass, ["params", "maps"]),
            (of_typed_dict, ["params", "maps"]),
            (of_itself, ["params"]),
        ):
            with self.subTest(function.__name__):
                values = self.place(
                    {"data": {}, "params": {"maps": {"dataPoolId": POOL_ID}}}, *path
                )
                _, named = Binder(function).bind(values)
                pool = function(**named)
                self.assertEqual((pool.id, pool.path), (POOL_ID, "/in/x/pool-0"))
                self.assertEqual(pool.sizes, {"a.json": 3})

    def test_what_is_no_pool_is_refused_with_its_place(self) -> None:
        def function(params: Params) -> None: ...

        for value in ({"dataPoolId": POOL_ID}, "text", None):
            with self.subTest(value), self.assertRaises(InvalidInput) as caught:
                Binder(function).bind({"data": {}, "params": {"maps": value}})
            self.assertIn("/params/maps", str(caught.exception.detail))

    def test_the_schema_says_what_callers_pass(self) -> None:
        def function(params: Params, data: DataPool) -> None: ...

        schema, _ = derive_schemas(Binder(function))
        assert schema is not None
        self.assertEqual(schema["$defs"]["DataPool"], DataPool.describe())
        self.assertEqual(schema["properties"]["data"], {"$ref": "#/$defs/DataPool"})
        self.assertEqual(sorted(schema["required"]), ["data", "params"])
        members = schema["$defs"]["Params"]["properties"]
        self.assertEqual(members["maps"], {"$ref": "#/$defs/DataPool"})
        self.assertEqual(
            members["more"],
            {"anyOf": [{"$ref": "#/$defs/DataPool"}, {"type": "null"}], "default": None},
        )

    def test_pydantic_makes_the_same_of_it(self) -> None:
        core = types.SimpleNamespace(no_info_plain_validator_function=lambda accept: accept)
        with mock.patch.dict(sys.modules, {"pydantic_core": mock.Mock(core_schema=core)}):
            accept = DataPool.__get_pydantic_core_schema__(None, None)
        pool = accept(PinnedPool(POOL_ID, "/in/x/pool-0", {"a.json": 3}))
        self.assertEqual((pool.id, pool.sizes), (POOL_ID, {"a.json": 3}))
        self.assertIs(accept(pool), pool)
        self.assertEqual(DataPool.__get_pydantic_json_schema__(None, None), DataPool.describe())
        for value in ({"dataPoolId": POOL_ID}, None, object()):
            with self.assertRaises(ValueError):
                accept(value)

    def test_a_request_with_a_pool_reaches_run(self) -> None:
        definition = """
import sys
sys.path.append("helpers")
from platform_service import DataPool
def run(data: DataPool): return [list(data), data.sizes, data.id]
"""
        pools = [{"path": ["data"], "id": POOL_ID, "files": [["b", 1], ["a", 2]]}]
        expected = [(wire.RESULT, {"value": [["a", "b"], {"a": 2, "b": 1}, POOL_ID]})]
        self.assertEqual(run(definition, pools=pools), (expected, ""))


class Pools(unittest.TestCase):
    def test_it_is_a_folder_of_files(self) -> None:
        folder = make_folder(self, **{"b.txt": "zwei", "a.txt": "ä"})
        os.mkdir(os.path.join(folder, "folder"))
        pool = DataPool(folder)
        self.assertEqual((list(pool), len(pool), pool.id), (["a.txt", "b.txt"], 2, None))
        self.assertEqual(pool.sizes, {"a.txt": 2, "b.txt": 4})
        self.assertEqual((os.fspath(pool), pool.path), (folder, folder))
        self.assertTrue("a.txt" in pool and "folder" not in pool)
        with pool.open("a.txt") as text, pool.open("a.txt", "rb") as content:
            self.assertEqual((text.read(), content.read()), ("ä", "ä".encode()))
        self.assertEqual(pathlib.Path(pool, "b.txt").read_text(encoding="utf-8"), "zwei")
        self.assertIn("files=2", repr(pool))
        self.assertTrue(DataPool(make_folder(self)))

    def test_it_opens_its_own_files_only_and_for_reading_only(self) -> None:
        pool = DataPool(make_folder(self, **{"a.txt": "a"}))
        for name in ("../a.txt", "b.txt", "", "/etc/hostname"):
            with self.subTest(name), self.assertRaises(FileNotFoundError):
                pool.open(name)
        for mode in ("w", "a", "x", "r+", "wb"):
            with self.subTest(mode), self.assertRaisesRegex(ValueError, "can only be read"):
                pool.open("a.txt", mode)
        pool.sizes["b.txt"] = 1
        self.assertNotIn("b.txt", pool)


if __name__ == "__main__":
    unittest.main()
