"""What conversion and schema ask about hints."""

import dataclasses
import enum
import typing
import unittest
from collections import abc
from typing import Any

from service_runner import hints

Seconds = typing.NewType("Seconds", float)


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: "int"
    label: str = "none"
    tags: list[str] = dataclasses.field(default_factory=list)
    hidden: int = dataclasses.field(default=0, init=False)


class Options(typing.TypedDict):
    mode: str
    limit: typing.NotRequired[int]


class Model:
    @classmethod
    def model_validate(cls, _: Any) -> Any:
        return cls()

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        return {}


class Hints(unittest.TestCase):
    def test_what_does_not_change_the_value_is_removed(self) -> None:
        for hint, expected in (
            (typing.Annotated[int, "unit"], int),
            (typing.Required[typing.Annotated[str, 1]], str),
            (typing.Final[int], int),
            (typing.ClassVar[int], int),
            (Seconds, float),
            (list[int], list[int]),
            (None, None),
        ):
            with self.subTest(hint=hint):
                self.assertEqual(hints.unwrap(hint), expected)

    def test_each_kind_of_hint_is_recognised_and_an_instance_is_none(self) -> None:
        questions: list[tuple[Any, Any, Any]] = [
            (hints.is_model, Model, Model()),
            (hints.is_dataclass, Point, Point(1)),
            (hints.is_enum, Colour, Colour.RED),
            (hints.is_union, int | str, int),
            (hints.is_union, typing.Union[int, str], list[int]),  # noqa: UP007
            (hints.is_literal, typing.Literal["a"], "a"),
        ]
        for question, yes, no in questions:
            with self.subTest(question=question):
                self.assertTrue(question(yes))
                self.assertFalse(question(no))

    def test_the_base_of_a_hint_is_what_it_is_without_arguments(self) -> None:
        self.assertIs(hints.base_of(list[int]), list)
        self.assertIs(hints.base_of(typing.Sequence[int]), abc.Sequence)
        self.assertIs(hints.base_of(int), int)

    def test_fields_are_those_of_the_constructor_with_hints_resolved(self) -> None:
        expected = [("x", int, True), ("label", str, False), ("tags", list[str], False)]
        self.assertEqual(hints.fields_of(Point), expected)

    def test_keys_say_whether_they_are_required(self) -> None:
        self.assertEqual(hints.keys_of(Options), [("mode", str, True), ("limit", int, False)])


if __name__ == "__main__":
    unittest.main()
