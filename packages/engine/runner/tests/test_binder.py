"""How `run` is called, for each way to write its parameters."""

import functools
import unittest
from dataclasses import dataclass
from typing import Any

from service_runner.binder import Binder
from service_runner.failure import Failure, InvalidInput

VALUES = {"data": {"a": 1}, "params": {"b": 2}}
DATA, PARAMS = VALUES["data"], VALUES["params"]


@dataclass
class Point:
    a: int


class Callable:
    def __call__(self, params: Any) -> None:
        """Wants one of the two."""


def without() -> None:
    """Wants nothing."""


def only_data(data: Any) -> None:
    """Wants one of the two."""


def only_named(*, params: Any, data: Any) -> None:
    """Wants both by name."""


def only_positional(params: Any, data: Any, /) -> None:
    """Wants both by position."""


def collecting(*others: Any, **named: Any) -> None:
    """Takes anything."""


def with_defaults(data: Any, limit: int = 3, *, unit: str = "s") -> None:
    """Has parameters of its own."""


@functools.wraps(only_data)
def wrapped(other: Any) -> None:
    """Has the signature of what it wraps."""


def needs_another(data: Any, limit: int) -> None:
    """Cannot be called."""


def needs_another_by_name(*others: Any, limit: int) -> None:
    """Cannot be called."""


def hinted(data: Point, params: dict[str, float]) -> None:
    """Gets converted values."""


class Binding(unittest.TestCase):
    def test_each_form_of_parameters_gets_what_it_names(self) -> None:
        both = {"data": DATA, "params": PARAMS}
        cases: list[tuple[Any, list[Any], dict[str, Any]]] = [
            (without, [], {}),
            (only_data, [], {"data": DATA}),
            (only_named, [], both),
            (only_positional, [PARAMS, DATA], {}),
            (collecting, [], both),
            (with_defaults, [], {"data": DATA}),
            (wrapped, [], {"data": DATA}),
            (functools.partial(only_named, data={}), [], both),
            (Callable(), [], {"params": PARAMS}),
            (Callable().__call__, [], {"params": PARAMS}),
            (lambda data: data, [], {"data": DATA}),
        ]
        for run, positional, named in cases:
            with self.subTest(run=run):
                self.assertEqual(Binder(run).bind(VALUES), (positional, named))

    def test_a_parameter_that_no_request_can_fill_is_refused(self) -> None:
        for run in (needs_another, needs_another_by_name):
            with self.subTest(run=run), self.assertRaises(Failure) as raised:
                Binder(run)
            self.assertEqual(raised.exception.code, "STARTUP_ERROR")
            self.assertRegex(raised.exception.detail, "^run has the parameter 'limit':")

    def test_hinted_arguments_are_converted_and_others_are_passed_as_they_are(self) -> None:
        _, named = Binder(hinted).bind(VALUES)
        self.assertEqual(named, {"data": Point(1), "params": {"b": 2.0}})
        self.assertIs(type(named["params"]["b"]), float)
        _, named = Binder(only_data).bind(VALUES)
        self.assertIs(named["data"], DATA)

    def test_data_and_params_must_be_objects_when_they_are_wanted(self) -> None:
        with self.assertRaises(InvalidInput) as raised:
            Binder(only_data).bind({"data": [1], "params": {}})
        self.assertEqual(raised.exception.detail, "/data: must be a JSON object.")
        self.assertEqual(Binder(without).bind({"data": [1], "params": 2}), ([], {}))


if __name__ == "__main__":
    unittest.main()
