"""What a job would cost, and whether its backend would run it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from .errors import InvalidProblemError, PlatformError

_MOST_DIGITS = 9
"""Before and behind the point, as the platform has amounts of money."""


@dataclass(frozen=True)
class Estimate:
    """The answer of a dry run; nothing was simulated, and nothing is charged."""

    valid: bool
    """Whether the backend would run it."""
    cost: Decimal | None
    """None: the price is by the second, and the backend does not say how long it would take."""
    most_cost: Decimal | None
    """What it cannot exceed, with all of its time limit."""
    currency: str | None
    """None: it costs nothing."""
    seconds: float | None
    """None: the backend does not say."""
    queue_position: int | None
    """Jobs that wait before it."""
    warnings: list[str]

    @staticmethod
    def from_dict(raw: dict[str, Any]) -> Estimate:
        """Reads the result of a dry run.

        :raises PlatformError: it is none
        """
        try:
            return Estimate._read(raw)
        except (AttributeError, TypeError, ArithmeticError):
            raise PlatformError("The backend has answered the dry run by no estimate.") from None

    @staticmethod
    def _read(raw: dict[str, Any]) -> Estimate:
        return Estimate(
            valid=raw.get("valid") is True,
            cost=read_amount(raw.get("cost")),
            most_cost=read_amount(raw.get("most_cost")),
            currency=raw.get("currency"),
            seconds=raw.get("seconds"),
            queue_position=raw.get("queue_position"),
            warnings=[str(warning) for warning in raw.get("warnings") or []],
        )


def read_amount(text: str | None) -> Decimal | None:
    """An exact amount of money, as the platform writes it."""
    return None if text is None else Decimal(text)


def write_amount(amount: Decimal | float | str) -> str:
    """The same the other way; of a float its shortest text counts.

    :raises InvalidProblemError: it is no amount
    """
    try:
        found = Decimal(str(amount))
    except ArithmeticError:
        found = Decimal("NaN")
    if not found.is_finite() or found < 0 or not _is_writable(found):
        raise InvalidProblemError(
            "An amount is a number that is not negative, of nine digits before and nine behind the "
            f"point at most, not {amount!r}."
        )
    return format(found, "f")


def _is_writable(amount: Decimal) -> bool:
    """Before it is written: 1e999999999 would have a billion digits."""
    places = amount.as_tuple().exponent
    return amount.adjusted() < _MOST_DIGITS and isinstance(places, int) and places >= -_MOST_DIGITS
