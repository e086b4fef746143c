"""A job of a sampler or an estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from qiskit.primitives import BasePrimitiveJob, PrimitiveResult, PubResult, SamplerPubResult
from qiskit.primitives.containers import BitArray, DataBin

from .job import read_state
from .result import UnreadableResultError, read_register

if TYPE_CHECKING:
    from collections.abc import Callable

    from qiskit.providers import JobStatus

    from ..models import Failure, LogLine
    from ..remote_job import RemoteJob


class PlatformPrimitiveJob(BasePrimitiveJob):  # type: ignore[misc, unused-ignore]
    """A job whose result is one of Qiskit's primitives."""

    def __init__(self, remote: RemoteJob, read: Callable[[dict[str, Any]], PubResult]) -> None:
        super().__init__(remote.id)
        self._remote = remote
        self._read = read
        self._result: PrimitiveResult | None = None

    def __repr__(self) -> str:
        return f"PlatformPrimitiveJob({self._remote.id!r}, {self._remote.known.status})"

    @property
    def remote(self) -> RemoteJob:
        """The same job without Qiskit."""
        return self._remote

    def result(self, timeout: float | None = None) -> PrimitiveResult:
        """Waits for the result.

        :raises JobFailedError: it has ended without one
        :raises JobCancelledError: it was cancelled
        :raises JobTimeoutError: it has not ended within `timeout` seconds; it goes on
        """
        if self._result is None:
            raw = self._remote.raw_result(timeout)
            try:
                pubs = [self._read(pub) for pub in raw["pubs"]]
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                reason = f"{type(error).__name__}: {error}"
                text = f"The result of job {self._remote.id} is unreadable: {reason}"
                raise UnreadableResultError(text) from error
            self._result = PrimitiveResult(pubs, {"version": 2, **(raw.get("metadata") or {})})
        return self._result

    def status(self) -> JobStatus:
        """The state at present."""
        return read_state(self._remote.refresh())

    def done(self) -> bool:
        """Whether it has a result."""
        return self._remote.refresh().status == "COMPLETED"

    def running(self) -> bool:
        """Whether the backend has begun, and not ended."""
        return self._remote.refresh().status == "RUNNING"

    def cancelled(self) -> bool:
        """Whether it was cancelled."""
        return self._remote.refresh().status == "CANCELLED"

    def in_final_state(self) -> bool:
        """Whether it has ended."""
        return self._remote.refresh().is_final

    def cancel(self) -> None:
        """Cancels it: what waits ends at once, what runs within seconds."""
        self._remote.cancel()

    def queue_position(self) -> int | None:
        """Its place in the queue, from 1; None when it does not wait."""
        return self._remote.refresh().queue_position

    def logs(self) -> list[LogLine]:
        """The lines of its log so far, oldest first."""
        return self._remote.logs()

    def error(self) -> Failure | None:
        """Why it has ended without a result: code and detail; None while it goes on."""
        return self._remote.failure()


def read_samples(pub: dict[str, Any]) -> SamplerPubResult:
    """What was measured, by registers."""
    registers = [register for register in pub["registers"] if register["name"]]
    shape = tuple(registers[0]["shape"]) if registers else ()
    arrays = {
        register["name"]: BitArray(read_register(register), register["bits"])
        for register in registers
    }
    return SamplerPubResult(DataBin(**arrays, shape=shape), metadata={"shots": pub["shots"]})


def read_expectations(pub: dict[str, Any]) -> PubResult:
    """Expectation values and standard errors."""
    values = np.asarray(pub["evs"], dtype=float)
    errors = np.asarray(pub["stds"], dtype=float)
    if values.shape != errors.shape:
        raise ValueError("evs and stds have different shapes")
    return PubResult(DataBin(evs=values, stds=errors, shape=values.shape))
