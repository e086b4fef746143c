"""Which jobs of a list are wanted, as the platform is asked for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from .arguments import format_time, read_id

if TYPE_CHECKING:
    from datetime import datetime

    from .session import Session


class MoreFilters(TypedDict, total=False):
    """What `jobs()` takes by name alone; what is None is not asked for."""

    created_before: datetime | None
    """Those before this time, which is local time without a zone."""

    name: str | None
    """Those with this text in their name, in small or capital letters."""

    session: Session | str | None
    """Those of this session, or of the one with this id."""


def read_more(
    *,
    created_before: datetime | None = None,
    name: str | None = None,
    session: Session | str | None = None,
) -> dict[str, Any]:
    """The members of a query.

    :raises InvalidProblemError: something given is of another type
    """
    return {
        "createdBefore": format_time("created_before", created_before),
        "name": name,
        "sessionId": None if session is None else read_id(getattr(session, "id", session)),
    }
