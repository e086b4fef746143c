"""The defaults of fields that a schema shows."""

import dataclasses
import enum
import json
import typing
import unittest
from typing import Any

from service_runner.binder import Binder
from service_runner.schema import derive_schemas


class Colour(enum.Enum):
    RED = "red"


class Silent:
    """Ends the test when it is looked at more closely."""

    def __eq__(self, _: object) -> bool:
        raise AssertionError("code of a user was run")

    def __hash__(self) -> int:
        return 1


class Loud(str):
    __slots__ = ()

    def __len__(self) -> int:
        raise AssertionError("code of a user was run")


def refuse() -> int:
    raise AssertionError("a factory was called")


@dataclasses.dataclass
class Settings:
    values: list[float]
    label: str = "x"
    mode: typing.Literal["fast", "slow"] = "fast"
    factor: int = 2
    wait: float = 0.5
    colour: Colour = Colour.RED
    size: tuple[int, int] = (3, 4)
    limit: int | None = None
    wide: float = 3
    anything: Any = True
    accents: str = "\u00e9" * 100


@dataclasses.dataclass
class Hidden:
    """What no schema shows, or the one that has it could not be stored."""

    missing: str = None  # type: ignore[assignment]
    other: int = "1"  # type: ignore[assignment]
    truth: int = True
    nan: float = float("nan")
    infinite: float = float("inf")
    huge: int = 10**5000
    long: str = "x" * 501
    accents: str = "\u00e9" * 499
    pair: tuple[int, int] = ("a", "b")  # type: ignore[assignment]
    short: tuple[int, int] = (1,)  # type: ignore[assignment]
    texts: tuple[int, ...] = (1, "b")  # type: ignore[assignment]
    many: tuple[int, ...] = tuple(range(101))
    null: str = "a\0b"
    half: str = "\ud800"
    loud: str = Loud("x")
    raw: Any = b"x"
    silent: Any = Silent()  # noqa: RUF009
    own: Any = dataclasses.field(default_factory=refuse)
    items: list[int] = dataclasses.field(default_factory=list)
    inner: Settings = None  # type: ignore[assignment]
    absent: int = dataclasses.field(default=1, init=False)


def derive(run: Any) -> tuple[Any, Any]:
    return derive_schemas(Binder(run))


class Defaults(unittest.TestCase):
    def test_a_default_that_is_plain_json_is_in_the_schema_of_the_input(self) -> None:
        def run(data: Settings) -> Settings:
            return data

        schema, returned = derive(run)
        definition = schema["$defs"]["Settings"]
        shown = {
            name: member["default"]
            for name, member in definition["properties"].items()
            if "default" in member
        }
        expected = {
            "label": "x",
            "mode": "fast",
            "factor": 2,
            "wait": 0.5,
            "colour": "red",
            "size": [3, 4],
            "limit": None,
            "wide": 3,
            "anything": True,
            "accents": "\u00e9" * 100,
        }
        self.assertEqual(shown, expected)
        self.assertEqual(definition["required"], ["values"])
        self.assertNotIn("default", json.dumps(returned))

    def test_other_defaults_are_left_out_and_no_code_of_a_user_is_run_for_them(self) -> None:
        def run(data: Hidden) -> None: ...

        properties = derive(run)[0]["$defs"]["Hidden"]["properties"]
        self.assertEqual([name for name in properties if "default" in properties[name]], [])


if __name__ == "__main__":
    unittest.main()
