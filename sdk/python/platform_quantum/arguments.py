"""Arguments of calls that are easily given otherwise than they are meant."""

from __future__ import annotations

import math
import operator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from .errors import InvalidProblemError

if TYPE_CHECKING:
    from collections.abc import Iterable


def read_count(name: str, value: Any) -> int:
    """A whole number, which may be one of numpy, or a float such as 1e3.

    :raises InvalidProblemError: it is none
    """
    try:
        if isinstance(value, float) and value.is_integer():
            return int(value)
        return operator.index(value)
    except TypeError:
        raise InvalidProblemError(f"{name} must be a whole number, not {value!r}.") from None


def read_seconds(name: str, value: Any) -> float:
    """For how long to wait, at most; None: for ever.

    :raises InvalidProblemError: it is no number
    """
    if value is None:
        return math.inf
    if isinstance(value, str) or not hasattr(value, "__float__") or math.isnan(value):
        raise InvalidProblemError(f"{name} must be a number of seconds, not {value!r}.")
    return float(value)


def read_id(name: Any) -> str:
    """An id as it can stand in a path.

    :raises InvalidProblemError: it is no text, or would be another path
    """
    if not isinstance(name, str) or name in ("", ".", ".."):
        raise InvalidProblemError(f"An id is a text of letters and digits, not {name!r}.")
    return name


def read_tags(tags: Iterable[str] | None) -> list[str]:
    """A list of texts.

    :raises InvalidProblemError: it is a text itself, whose letters would be the tags
    """
    if isinstance(tags, str):
        raise InvalidProblemError(f"tags must be a list, such as [{tags!r}].")
    return list(tags or ())


def format_time(name: str, moment: Any) -> str | None:
    """As the platform reads times; one without a zone is local time. None: there is none.

    :raises InvalidProblemError: it is no datetime, or in no year of four digits everywhere
    """
    if moment is None:
        return None
    if not isinstance(moment, datetime):
        raise InvalidProblemError(f"{name} must be a datetime, not {moment!r}.")
    try:
        return moment.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "seconds")
    except (OverflowError, ValueError, OSError):
        raise InvalidProblemError(f"{name} is too early or too late: {moment}.") from None
