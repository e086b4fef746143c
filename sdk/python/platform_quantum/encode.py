"""Queries and bodies of requests as they are sent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from .errors import InvalidProblemError

if TYPE_CHECKING:
    from collections.abc import Mapping

_MAX_BODY_BYTES = 2 * 1024 * 1024
"""A platform ends the connection of what is much larger, often before its answer can be read."""


def encode_query(query: Mapping[str, Any]) -> str:
    """With its question mark; members that are None are left out, a list is repeated.

    :raises InvalidProblemError: a text has half a surrogate pair
    """
    known = {name: _to_text(value) for name, value in query.items() if value is not None}
    try:
        return f"?{urlencode(known, doseq=True)}" if known else ""
    except UnicodeEncodeError:
        raise InvalidProblemError("A text has half a surrogate pair.") from None


def encode_body(body: Any) -> bytes:
    """The JSON text of a body.

    :raises InvalidProblemError: it cannot be JSON, or is larger than what a platform reads
    """
    try:
        text = json.dumps(body, allow_nan=False, separators=(",", ":"), default=_lower)
    except (ValueError, RecursionError):
        detail = "An option or the problem has a number that is not finite, or contains itself."
        raise InvalidProblemError(detail) from None
    except TypeError as error:
        raise InvalidProblemError(f"An option cannot be sent: {error}.") from None
    if len(text) > _MAX_BODY_BYTES:
        raise InvalidProblemError(
            f"The job has {len(text)} bytes, and a platform takes no more than 1 MB. Send fewer "
            "circuits in one job, or smaller ones."
        )
    return text.encode("ascii")


def _lower(value: Any) -> Any:
    """Numbers and arrays of numpy, which a seed or an option may be."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"an option of type {type(value).__name__} is not JSON")


def _to_text(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value
