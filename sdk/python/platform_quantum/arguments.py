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
    try:
        seconds = math.nan if isinstance(value, str) else float(value)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        seconds = math.nan
    if math.isnan(seconds):
        raise InvalidProblemError(f"{name} must be a number of seconds, not {value!r}.")
    return seconds


def read_id(name: Any) -> str:
    """An id as it can stand in a path.

    :raises InvalidProblemError: it is no text, or would be another path
    """
    if not isinstance(name, str) or name in ("", ".", "..") or not is_unicode(name):
        raise InvalidProblemError(f"An id is a text of letters and digits, not {name!r}.")
    return name


def read_tags(tags: Iterable[str] | None) -> list[str]:
    """A list of texts.

    :raises InvalidProblemError: it is a text itself, whose letters would be the tags
    """
    if isinstance(tags, str):
        raise InvalidProblemError(f"tags must be a list, such as [{tags!r}].")
    try:
        return list(tags or ())
    except TypeError:
        raise InvalidProblemError(f"tags must be a list of texts, not {tags!r}.") from None


def read_header(name: str, value: Any) -> str | None:
    """What is sent as a header. None: there is none.

    :raises InvalidProblemError: it is no text of visible ASCII characters
    """
    if value is not None and not (
        isinstance(value, str) and value.isascii() and value.isprintable()
    ):
        raise InvalidProblemError(f"{name} is a text of visible ASCII characters, not {value!r}.")
    return value


def is_unicode(text: str) -> bool:
    """Whether it can be sent: half a surrogate pair is no character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


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
