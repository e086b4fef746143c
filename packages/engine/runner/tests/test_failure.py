"""The code, detail and traceback of a run that failed."""

import unittest

from service_runner import hints
from service_runner.failure import (
    CODE_LIMIT,
    DETAIL_LIMIT,
    Failure,
    InvalidInput,
    describe_exception,
    extend_pointer,
    format_traceback,
)


class Silent(Exception):
    def __str__(self) -> str:
        raise RuntimeError


class Alias:
    @property
    def __supertype__(self) -> None:
        raise ValueError("a bad hint")


def fail_below_the_runner() -> None:
    hints.unwrap(Alias())


def catch(cause: bool = False, group: bool = False) -> BaseException:
    """An exception with frames of the runner, alone, as a cause or in a group."""
    try:
        try:
            fail_below_the_runner()
        except ValueError as error:
            if cause:
                raise TypeError("wrapped") from error
            if group:
                raise ExceptionGroup("several", [error]) from None
            raise
    except Exception as error:
        return error
    raise AssertionError


class Failures(unittest.TestCase):
    def test_a_long_code_or_detail_is_cut(self) -> None:
        self.assertEqual(Failure("A" * (CODE_LIMIT + 1), "x").code, "A" * CODE_LIMIT)
        self.assertEqual(Failure("A", "x" * DETAIL_LIMIT).detail, "x" * DETAIL_LIMIT)
        self.assertEqual(
            Failure("A", "x" * (DETAIL_LIMIT + 1)).detail, "x" * (DETAIL_LIMIT - 1) + "\u2026"
        )

    def test_an_invalid_input_names_its_place(self) -> None:
        error = InvalidInput(extend_pointer("/data", "a/b~c"), "is required")
        self.assertEqual(
            (error.code, error.detail), ("INVALID_INPUT", "/data/a~1b~0c: is required.")
        )

    def test_an_exception_is_described_whatever_its_text_does(self) -> None:
        for error, expected in (
            (ValueError("bad"), "ValueError: bad"),
            (ValueError(), "ValueError"),
            (Silent(), "Silent"),
        ):
            self.assertEqual(describe_exception(error), expected)

    def test_a_traceback_has_no_frames_of_the_runner(self) -> None:
        for error in (catch(), catch(cause=True), catch(group=True)):
            text = format_traceback(error)
            self.assertIn("ValueError: a bad hint", text)
            self.assertIn("in fail_below_the_runner", text)
            self.assertNotIn("hints.py", text)


if __name__ == "__main__":
    unittest.main()
