"""What a JSON value becomes for a hint of `run`, and what is said of a value that does not fit."""

import dataclasses
import enum
import typing
import unittest

from service_runner.conversion import convert
from service_runner.failure import InvalidInput


class Colour(enum.Enum):
    RED = "red"
    ONE = 1


@dataclasses.dataclass
class Point:
    x: float
    label: str = "none"


class Options(typing.TypedDict, total=False):
    mode: typing.Literal["a", "b"]


@dataclasses.dataclass
class Path:
    points: list[Point]
    next: typing.Optional["Path"] = None


FITTING = [
    (int, 3.0, 3),
    (float, 3, 3.0),
    (bool, True, True),
    (typing.Optional[int], None, None),  # noqa: UP045 - another type than int | None
    (int | None, None, None),
    (int | str, "a", "a"),
    (tuple[int, str], [1, "a"], (1, "a")),
    (tuple[int, ...], [1, 2], (1, 2)),
    (set[int], [1, 1, 2], {1, 2}),
    (list[Point], [{"x": 1}], [Point(1.0)]),
    (dict[int, float], {"1": 2}, {1: 2.0}),
    (Colour, "red", Colour.RED),
    (typing.Literal["a", 1], 1, 1),
    (Options, {"mode": "a", "more": 1}, {"mode": "a", "more": 1}),
    (
        Path,
        {"points": [], "next": {"points": [{"x": 0, "label": "l"}]}},
        Path([], Path([Point(0.0, "l")])),
    ),
    (typing.Annotated[int, "unit"], 1, 1),
    (typing.Any, {"a": [1]}, {"a": [1]}),
]

REFUSED = [
    (int, True, "/data: must be an integer, not a boolean."),
    (int, 1.5, "/data: must be an integer, not a number."),
    (float, 10**400, "/data: is too large for a number."),
    (str, None, "/data: must be a string, not null."),
    (bool, 1, "/data: must be a boolean, not a number."),
    (list[int], [1, "a"], "/data/1: must be an integer, not a string."),
    (tuple[int, str], [1], "/data: must be an array of 2 items, not an array."),
    (dict[str, int], {"a/b~c": "x"}, "/data/a~1b~0c: must be an integer, not a string."),
    (dict[int, int], {"a": 1}, "/data/a: the key must be a int."),
    (set[list[int]], [[1]], "/data: TypeError: unhashable type: 'list'"),
    (Point, {}, "/data/x: is required."),
    (Point, {"x": 1, "y": 2}, "/data/y: is not a field of Point."),
    (Options, {"mode": "c"}, "/data/mode: must be one of 'a', 'b'."),
    (Colour, True, "/data: must be one of 'red', 1."),
    (int | None, "a", "/data: must be an integer, not a string."),
    (Path, {"points": [{"x": "a"}]}, "/data/points/0/x: must be a number, not a string."),
]


class Conversion(unittest.TestCase):
    def test_a_value_that_fits_becomes_what_the_hint_says(self) -> None:
        for hint, value, expected in FITTING:
            with self.subTest(hint=hint, value=value):
                converted = convert(hint, value, "/data")
                self.assertEqual(converted, expected)
                self.assertIs(type(converted), type(expected))

    def test_a_value_that_does_not_fit_is_refused_with_its_place(self) -> None:
        for hint, value, detail in REFUSED:
            with self.subTest(hint=hint, value=value):
                with self.assertRaises(InvalidInput) as raised:
                    convert(hint, value, "/data")
                self.assertEqual(
                    (raised.exception.code, raised.exception.detail), ("INVALID_INPUT", detail)
                )

    def test_a_constructor_that_refuses_is_an_invalid_input(self) -> None:
        @dataclasses.dataclass
        class Positive:
            n: int

            def __post_init__(self) -> None:
                if self.n < 0:
                    raise ValueError("n must not be negative")

        with self.assertRaises(InvalidInput) as raised:
            convert(Positive, {"n": -1}, "/data")
        self.assertEqual(raised.exception.detail, "/data: ValueError: n must not be negative")


if __name__ == "__main__":
    unittest.main()
