"""What `run` returned or raised -> the bytes of the answer."""

import dataclasses
import enum
import unittest
from typing import Any, Never

from service_runner.failure import DETAIL_LIMIT, Failure
from service_runner.outcome import METADATA_LIMIT, encode_outcome, read_chosen_failure

LIMIT = 1 << 20


@dataclasses.dataclass
class Envelope:
    result: object
    metadata: object = None


@dataclasses.dataclass
class Wider:
    result: int
    other: object


class Refusal:
    code = "NO_LICENCE"
    detail = "none is free"


class Chosen(Exception):
    def __init__(self, code: object, detail: str) -> None:
        self.code = code
        self.detail = detail


class Array:
    dtype = "float64"

    def tolist(self) -> list[float]:
        return [1.0, 2.0]


class Colour(enum.Enum):
    RED = "red"


def build_circle() -> dict[str, Any]:
    circle: dict[str, Any] = {}
    circle["self"] = circle
    return circle


class Outcome(unittest.TestCase):
    def test_values_become_an_object_in_ascii(self) -> None:
        cases = [
            (None, b"{}"),
            ({"a": "\u00f6"}, b'{"a":"\\u00f6"}'),
            ([1], b'{"value": [1]}'),
            ((1, [2]), b'{"value": [1,[2]]}'),
            ({"value": [1]}, b'{"value":[1]}'),
            ("a", b'{"value":"a"}'),
            (Array(), b'{"value": [1.0,2.0]}'),
            ({"colour": Colour.RED, "array": Array()}, b'{"colour":"red","array":[1.0,2.0]}'),
            (Wider(1, 2), b'{"result":1,"other":2}'),
        ]
        for value, expected in cases:
            with self.subTest(value=value):
                self.assertEqual(encode_outcome(value, LIMIT), (expected, None))

    def test_an_envelope_sets_result_and_metadata(self) -> None:
        self.assertEqual(
            encode_outcome(Envelope([1], {"seconds": 2}), LIMIT),
            (b'{"value": [1]}', b'{"seconds":2}'),
        )
        self.assertEqual(encode_outcome(Envelope({"a": 1}), LIMIT), (b'{"a":1}', None))

    def test_metadata_of_another_execution_lose_what_was_measured_of_that(self) -> None:
        given = {
            "seconds": 2,
            "_usage": {"cpuSeconds": 1.5},
            "_inputs": {},
            "_persisted": {},
            "of": {"_usage": 1},
        }
        encoded = encode_outcome(Envelope({}, given), LIMIT)
        self.assertEqual(encoded, (b"{}", b'{"seconds":2,"of":{"_usage":1}}'))
        self.assertIn("_usage", given)

    def test_metadata_have_as_many_levels_as_inputs(self) -> None:
        def nest(levels: int) -> dict[str, Any]:
            inner: list[Any] = ["[" * 300 + '\\"{']
            for _ in range(levels - 2):
                inner = [inner]
            return {"a": inner, "wide": [[]] * 300}

        encode_outcome(Envelope({}, nest(200)), LIMIT)
        with self.assertRaises(Failure) as caught:
            encode_outcome(Envelope({}, nest(201)), LIMIT)
        detail = "The metadata is nested deeper than 200 levels."
        self.assertEqual(
            (caught.exception.code, caught.exception.detail), ("INVALID_RESULT", detail)
        )

    def test_what_is_no_json_is_refused_with_its_place(self) -> None:
        cases = [
            ({"a": [1, float("nan")]}, "the number nan at /a/1"),
            ({"a": {"b/c": object()}}, "a value of type object at /a/b~1c"),
            ({(1, 2): 3}, "a key of type tuple at /(1, 2)"),
            (build_circle(), "a circular reference at /self"),
        ]
        for value, reason in cases:
            with self.subTest(reason=reason):
                with self.assertRaises(Failure) as raised:
                    encode_outcome(value, LIMIT)
                self.assertEqual(
                    (raised.exception.code, raised.exception.detail),
                    ("INVALID_RESULT", f"The result is not JSON: {reason}."),
                )

    def test_equal_looking_values_on_the_way_are_not_taken_for_a_circle(self) -> None:
        value: object = float("nan")
        for _ in range(20):
            value = Wider(1, value)
        with self.assertRaises(Failure) as raised:
            encode_outcome(value, LIMIT)
        self.assertRegex(raised.exception.detail, "the number nan at (/other){20}[.]$")

    def test_metadata_must_be_an_object(self) -> None:
        with self.assertRaises(Failure) as raised:
            encode_outcome(Envelope(1, [2]), LIMIT)
        self.assertEqual(raised.exception.detail, "metadata must be an object, not of type list.")

    def test_result_and_metadata_have_a_limit_each(self) -> None:
        text = "x" * 90
        self.assertEqual(len(encode_outcome({"a": text}, 98)[0]), 98)
        for value, limit in (({"a": text}, 97), (Envelope(1, {"a": "x" * METADATA_LIMIT}), LIMIT)):
            with self.assertRaises(Failure) as raised:
                encode_outcome(value, limit)
            self.assertEqual(raised.exception.code, "RESULT_TOO_LARGE")

    def test_a_service_chooses_its_code_by_returning_or_raising(self) -> None:
        with self.assertRaises(Failure) as raised:
            encode_outcome(Refusal(), LIMIT)
        self.assertEqual(
            (raised.exception.code, raised.exception.detail), ("NO_LICENCE", "none is free")
        )
        chosen = read_chosen_failure(Chosen("NO_LICENCE", "x" * (DETAIL_LIMIT + 1)))
        assert chosen is not None
        self.assertEqual(
            (chosen.code, len(chosen.detail), chosen.detail[-1]),
            ("NO_LICENCE", DETAIL_LIMIT, "\u2026"),
        )

    def test_an_exception_with_a_code_of_another_kind_chooses_nothing(self) -> None:
        class Hostile(Exception):
            @property
            def code(self) -> Never:
                raise RuntimeError

        for error in (ValueError("a"), Chosen(3, "a"), Chosen("", "a"), SystemExit(3), Hostile()):
            self.assertIsNone(read_chosen_failure(error))


if __name__ == "__main__":
    unittest.main()
