"""A job on the platform: its state, its end, its result as the backend returned it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from .api import MAX_WAIT_SECONDS
from .arguments import read_seconds
from .errors import JobCancelledError, JobFailedError, JobTimeoutError
from .estimate import read_amount
from .http_client import OutOfTime
from .models import Failure, JobInfo, LogLine, read_failure

if TYPE_CHECKING:
    from decimal import Decimal

    from .api import QuantumApi

_PAUSES = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0)
"""Seconds between questions to a platform that does not hold the answer back."""


class RemoteJob:
    """A job without Qiskit; what has been read of a final state is not asked for again."""

    def __init__(self, api: QuantumApi, info: JobInfo) -> None:
        self._api = api
        self._info = info
        self._raw_result: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return f"RemoteJob({self.id!r}, {self._info.status})"

    @property
    def id(self) -> str:
        """The id, by which it can be retrieved from anywhere."""
        return self._info.id

    @property
    def known(self) -> JobInfo:
        """The state as it was read last."""
        return self._info

    @property
    def cost(self) -> Decimal | None:
        """What it has cost, in the currency of its backend; None: it has not ended."""
        return read_amount(self.refresh().raw.get("cost"))

    @property
    def digest(self) -> str | None:
        """SHA-256 of all that decides what is run."""
        digest: str | None = self._info.raw.get("digest")
        return digest

    @property
    def cached_from(self) -> str | None:
        """Id of the earlier job whose result it has (`cache`); None: it was run itself."""
        found: str | None = self._info.raw.get("cached_from")
        return found

    def refresh(self) -> JobInfo:
        """The state at present."""
        if not self._info.is_final:
            self._info, _ = self._api.get_job(self.id)
        return self._info

    def wait(self, timeout: float | None = None) -> JobInfo:
        """Waits until the job has ended, however it ended.

        :raises JobTimeoutError: it has not ended within `timeout` seconds; it goes on
        """
        until = time.monotonic() + read_seconds("timeout", timeout)
        early = 0
        while not self._info.is_final:
            left = until - time.monotonic()
            try:
                asked = min(left, MAX_WAIT_SECONDS)
                self._info, has_waited = self._api.get_job(self.id, asked, until)
            except OutOfTime as error:
                raise JobTimeoutError(self.id, timeout or 0) from error
            left = until - time.monotonic()
            if self._info.is_final:
                break
            if left <= 0:
                raise JobTimeoutError(self.id, timeout or 0)
            if not has_waited:
                time.sleep(min(left, _PAUSES[min(early, len(_PAUSES) - 1)]))
                early += 1
        return self._info

    def raw_result(self, timeout: float | None = None) -> dict[str, Any]:
        """Waits for the end, and returns what the backend has returned.

        :raises JobFailedError: it has ended without a result
        :raises JobCancelledError: it was cancelled
        :raises JobTimeoutError: it has not ended within `timeout` seconds
        """
        until = time.monotonic() + read_seconds("timeout", timeout)
        info = self.wait(timeout)
        self._require_completed(info)
        if self._raw_result is None:
            try:
                self._raw_result = self._api.get_result(self.id, until)
            except OutOfTime as error:
                raise JobTimeoutError(self.id, timeout or 0) from error
        return self._raw_result

    def normal_result(self, timeout: float | None = None) -> dict[str, Any]:
        """Waits for the end, and returns the result in one form, whatever SDK has sent the job.

        `circuits`: of each one `counts` by its bits, `probabilities`, `amplitudes`, or `evs` and
        `stds`; `samples` of an annealer. Nothing but Python is needed to read it.

        :raises ApiError: NO_NORMAL_FORM: the backend has a form of its own, or it is too large
        :raises JobFailedError: it has ended without a result
        :raises JobCancelledError: it was cancelled
        :raises JobTimeoutError: it has not ended within `timeout` seconds
        """
        self._require_completed(self.wait(timeout))
        found: dict[str, Any] = self._api.get_job_part(self.id, "result/normalized")
        return found

    def calibration(self) -> dict[str, Any] | None:
        """The calibration of the version of the backend that runs it; None: that has none."""
        found: dict[str, Any] | None = self._api.get_job_part(self.id, "calibration")
        return found

    def failure(self) -> Failure | None:
        """Why it has ended without a result; None while it goes on, and when it has one."""
        info = self.refresh()
        if not info.is_final or info.status == "COMPLETED":
            return None
        return info.failure or read_failure(self._api.get_result(self.id))

    def cancel(self) -> None:
        """Cancels it; one that has ended stays as it is."""
        if not self._info.is_final:
            self._api.cancel_job(self.id)

    def logs(self) -> list[LogLine]:
        """The lines of its log so far."""
        return self._api.read_log(self.id)

    def _require_completed(self, info: JobInfo) -> None:
        if info.status == "COMPLETED":
            return
        failure = self.failure() or Failure(info.status, "The platform gave no reason.")
        error = JobCancelledError if info.status == "CANCELLED" else JobFailedError
        raise error(self.id, failure.code, failure.detail)
