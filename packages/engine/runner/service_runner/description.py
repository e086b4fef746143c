"""What a backend says of itself: the result of `describe` in `src/program.py`."""

from __future__ import annotations

import json
import sys

from .failure import Failure, describe_exception, format_traceback

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BACKEND_NOT_DESCRIBED = "BACKEND_NOT_DESCRIBED"
DESCRIPTION_LIMIT = 256 * 1024
"""Bytes of JSON text."""


def describe_backend() -> dict[str, Any]:
    """Calls `describe` of the module that `load_program` has imported.

    Raises Failure with the code BACKEND_NOT_DESCRIBED.
    """
    describe = getattr(sys.modules["src.program"], "describe", None)
    if not callable(describe):
        raise _refuse("src/program.py of a backend needs a function describe() beside run.")
    try:
        described = describe()
    except BaseException as error:  # sys.exit is a failure as well
        reason = f"describe() in src/program.py failed: {describe_exception(error)}"
        raise _refuse(reason, format_traceback(error)) from None
    if not isinstance(described, dict):
        kind = type(described).__name__
        raise _refuse(f"describe() in src/program.py must return a dict, not {kind}.")
    try:
        text = json.dumps(described, allow_nan=False)
    except Exception as error:
        reason = f"What describe() returns is no JSON: {describe_exception(error)}"
        raise _refuse(reason) from None
    if len(text) > DESCRIPTION_LIMIT:
        raise _refuse(f"What describe() returns exceeds {DESCRIPTION_LIMIT} bytes of JSON.")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def _refuse(detail: str, traceback: str | None = None) -> Failure:
    return Failure(BACKEND_NOT_DESCRIBED, detail, traceback)
