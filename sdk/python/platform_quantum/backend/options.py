"""`params` of a job: shots, seed, and what the backend has named."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .failures import INVALID_INPUT, SHOTS_OUT_OF_RANGE, BackendFailure

if TYPE_CHECKING:
    from collections.abc import Collection

_OWN = ("shots", "seed", "dry_run", "memory", "precision")
_MAX_SHOWN = 50


@dataclass(frozen=True)
class Options:
    """What a job asks for besides its circuits."""

    shots: int
    seed: int
    """Drawn where the caller gave none; the result says which."""
    is_seeded: bool
    precision: float | None = None
    """Of an estimator: standard error."""
    dry_run: bool = False
    named: dict[str, Any] = field(default_factory=dict)
    """The options that this backend has of its own."""

    def get(self, name: str, default: Any = None) -> Any:
        """One of its own options."""
        return self.named.get(name, default)


def read_options(
    params: dict[str, Any], names: Collection[str], shots_range: tuple[int, int]
) -> Options:
    """The options of a job.

    :raises BackendFailure: INVALID_INPUT, SHOTS_OUT_OF_RANGE
    """
    refuse_unknown(params, names, _OWN)
    precision = params.get("precision")
    if precision is not None and not (_is_number(precision) and 0 < precision < 1):
        raise BackendFailure(INVALID_INPUT, "`precision` must be a number between 0 and 1.")
    return Options(
        shots=check_shots(params.get("shots", 1024), shots_range),
        seed=read_seed(params.get("seed")),
        is_seeded=params.get("seed") is not None,
        precision=None if precision is None else float(precision),
        dry_run=params.get("dry_run") is True,
        named=read_named(params, names),
    )


def refuse_unknown(
    params: dict[str, Any], names: Collection[str], silent: Collection[str] = ()
) -> None:
    """Returns if all options are known; those of `silent` are, and are not told of.

    :raises BackendFailure: INVALID_INPUT
    """
    unknown = sorted(set(params) - set(names) - set(silent))
    if unknown:
        known = ", ".join(sorted({*names, "seed"}))
        detail = f"The option {unknown[0][:_MAX_SHOWN]!r} is unknown; there is {known}."
        raise BackendFailure(INVALID_INPUT, detail)


def read_named(params: dict[str, Any], names: Collection[str]) -> dict[str, Any]:
    """The options that a backend has of its own, of which no number is infinite.

    :raises BackendFailure: INVALID_INPUT
    """
    named = {name: params[name] for name in names if params.get(name) is not None}
    for name, value in named.items():
        try:
            json.dumps(value, allow_nan=False)
        except ValueError:  # 1e999 is JSON
            detail = f"The option {name!r} has a number that is not finite."
            raise BackendFailure(INVALID_INPUT, detail) from None
    return named


def check_shots(shots: Any, shots_range: tuple[int, int]) -> int:
    """The number of shots.

    :raises BackendFailure: SHOTS_OUT_OF_RANGE
    """
    least, most = shots_range
    if not isinstance(shots, int) or isinstance(shots, bool) or not least <= shots <= most:
        detail = f"shots must be a whole number from {least} to {most}, not {str(shots)[:50]}."
        raise BackendFailure(SHOTS_OUT_OF_RANGE, detail)
    return shots


def read_seed(seed: Any, bits: int = 63) -> int:
    """The seed, of so many bits; one is drawn where there is none.

    :raises BackendFailure: INVALID_INPUT
    """
    if seed is None:
        return secrets.randbelow(2**31)
    if type(seed) is not int or not 0 <= seed < 2**bits:
        detail = f"`seed` must be a whole number from 0 to 2^{bits} - 1."
        raise BackendFailure(INVALID_INPUT, detail)
    return seed


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
