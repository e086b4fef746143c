"""What the adapters of vendors have in common, besides `external`: see `backends/ibm`."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .failures import (
    BACKEND_OFFLINE,
    SHOTS_OUT_OF_RANGE,
    VENDOR_REJECTED,
    BackendFailure,
    describe_error,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .vendor import VendorJob

_BUSY = 429
_UNDECIDED = (408, 409, 425)
"""Answers after which the job may be there all the same."""
_PRICE = '{"currency": "EUR", "perJob": "0.3", "perShot": "0.00035"}'


def read_setting(name: str, default: str = "") -> str:
    """A secret or a variable of the service, or of its organisation.

    :raises BackendFailure: BACKEND_OFFLINE, where it is not set and there is no default
    """
    value = os.environ.get(name, "").strip() or default
    if not value:
        detail = f"{name} is not set: a secret or a variable of this service or its organisation."
        raise BackendFailure(BACKEND_OFFLINE, detail)
    return value


def read_price(name: str) -> dict[str, Any]:
    """What a variable says that jobs cost, as a member of a backend's profile; none without it.

    :raises BackendFailure: BACKEND_OFFLINE, where it is no JSON
    """
    text = os.environ.get(name, "").strip()
    if not text:
        return {}
    try:
        price = json.loads(text)
    except ValueError:
        price = None
    if not isinstance(price, dict):
        raise BackendFailure(BACKEND_OFFLINE, f"{name} is no price, such as {_PRICE}.")
    return {"price": price}


def read_shots(job: VendorJob) -> int:
    """The shots of all circuits, for vendors that take one number for a job.

    :raises BackendFailure: SHOTS_OUT_OF_RANGE, where they have several
    """
    first, *others = {circuit["shots"] for circuit in job.circuits}
    if others:
        detail = "The vendor runs all circuits of a job with the same number of shots."
        raise BackendFailure(SHOTS_OUT_OF_RANGE, detail)
    return int(first)


def read_status(error: BaseException | None) -> int:
    """The HTTP status of the answer behind an error; 0: there was none."""
    while error is not None:
        for place in (error, getattr(error, "response", None)):
            status = getattr(place, "status_code", 0)
            if isinstance(place, dict):  # that of boto
                status = place.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
            if isinstance(status, int) and status > 0:
                return int(status)
        error = error.__cause__ or error.__context__
    return 0


@contextmanager
def refusals(read: Callable[[BaseException], int] = read_status) -> Iterator[None]:
    """Around the request that submits a job: an answer that says no ends the job.

    Without such an answer the job may be there all the same, and the error stays as it is.

    :raises BackendFailure: VENDOR_REJECTED; BACKEND_OFFLINE, where the vendor is busy
    """
    try:
        yield
    except BackendFailure:
        raise
    except Exception as error:
        status = read(error)
        if not 400 <= status < 500 or status in _UNDECIDED:
            raise
        code = BACKEND_OFFLINE if status == _BUSY else VENDOR_REJECTED
        raise BackendFailure(code, f"The vendor has refused: {describe_error(error)}") from None
