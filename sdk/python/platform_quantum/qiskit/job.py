"""A job, as Qiskit has jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qiskit.providers import JobError, JobStatus, JobV1

from .result import build_result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from decimal import Decimal

    from qiskit.result import Result

    from ..models import Failure, JobInfo, LogLine
    from ..provider import PlatformQuantumProvider
    from ..remote_job import RemoteJob
    from .backend import PlatformBackend

_STATES: dict[str, JobStatus] = {
    "PENDING": JobStatus.QUEUED,
    "RUNNING": JobStatus.RUNNING,
    "COMPLETED": JobStatus.DONE,
    "CANCELLED": JobStatus.CANCELLED,
    "FAILED": JobStatus.ERROR,
    "ABORTED": JobStatus.ERROR,
}
"""States of the platform, as Qiskit has them."""


def read_state(info: JobInfo) -> JobStatus:
    """The state of a job, as Qiskit calls it."""
    return _STATES.get(info.status, JobStatus.INITIALIZING)


class PlatformJob(JobV1):  # type: ignore[misc, unused-ignore]
    """A job of a backend; what it did is asked from the platform as late as possible."""

    def __init__(
        self,
        provider: PlatformQuantumProvider,
        remote: RemoteJob,
        backend: PlatformBackend | None = None,
        headers: Sequence[dict[str, Any]] | None = None,
        with_memory: bool = True,
    ) -> None:
        super().__init__(backend, remote.id)
        self._provider = provider
        self._remote = remote
        self._known_backend = backend
        self._headers = headers
        self._with_memory = with_memory
        self._result: Result | None = None

    def __repr__(self) -> str:
        return f"PlatformJob({self.id!r}, {self._remote.known.status})"

    @property
    def id(self) -> str:
        """The id, by which it can be retrieved from anywhere."""
        return self._remote.id

    @property
    def remote(self) -> RemoteJob:
        """The same job without Qiskit."""
        return self._remote

    @property
    def shots(self) -> int | None:
        """Shots of each circuit that has no number of its own."""
        return self._remote.known.shots

    @property
    def name(self) -> str | None:
        """The name that it was given."""
        return self._remote.known.name

    @property
    def tags(self) -> list[str]:
        """The tags that it was given."""
        return self._remote.known.tags

    @property
    def created_at(self) -> datetime | None:
        """When it was started here, UTC."""
        return self._remote.known.created_at

    @property
    def started_at(self) -> datetime | None:
        """When the backend began, UTC; None: not yet."""
        return self._remote.refresh().started_at

    @property
    def ended_at(self) -> datetime | None:
        """When it ended, UTC; None: not yet."""
        return self._remote.refresh().ended_at

    @property
    def cost(self) -> Decimal | None:
        """What it has cost, in the currency of its backend; None: it has not ended."""
        return self._remote.cost

    @property
    def digest(self) -> str | None:
        """SHA-256 of all that decides what is run."""
        return self._remote.digest

    @property
    def cached_from(self) -> str | None:
        """Id of the earlier job whose result it has (`cache`); None: it was run itself."""
        return self._remote.cached_from

    def backend(self) -> PlatformBackend:
        """Its backend."""
        if self._known_backend is None:
            self._known_backend = self._provider.get_backend(self._remote.known.backend_id)
        return self._known_backend

    def submit(self) -> None:
        """Not for callers: `run` of a backend has started it."""
        raise JobError("The job has been started by run().")

    def status(self) -> JobStatus:
        """The state at present."""
        return read_state(self._remote.refresh())

    def wait_for_final_state(
        self,
        timeout: float | None = None,
        wait: float | None = None,  # noqa: ARG002 (of Qiskit's interface)
        callback: Callable[[str, JobStatus, PlatformJob], None] | None = None,
    ) -> None:
        """Waits until it has ended, however it ended; `wait` is not needed.

        :raises JobTimeoutError: it has not ended within `timeout` seconds; it goes on
        """
        if callback is not None and not self._remote.known.is_final:
            callback(self.id, self.status(), self)
        self._remote.wait(timeout)

    def result(self, timeout: float | None = None) -> Result:
        """Waits for the result.

        :raises JobFailedError: it has ended without one
        :raises JobCancelledError: it was cancelled
        :raises JobTimeoutError: it has not ended within `timeout` seconds; it goes on
        """
        if self._result is None:
            raw = self._remote.raw_result(timeout)
            self._result = build_result(raw, self._remote.known, self._headers, self._with_memory)
        return self._result

    def cancel(self) -> None:
        """Cancels it: what waits ends at once, what runs within seconds."""
        self._remote.cancel()

    def queue_position(self) -> int | None:
        """Jobs before it; None when it does not wait, or it is not known."""
        return self._remote.refresh().queue_position

    def estimated_start(self) -> datetime | None:
        """When it is likely to begin, UTC; None when it does not wait, or too little is known."""
        return self._remote.refresh().estimated_start

    def calibration(self) -> dict[str, Any] | None:
        """The calibration of the version of the backend that runs it; None: that has none."""
        return self._remote.calibration()

    def logs(self) -> list[LogLine]:
        """The lines of its log so far, oldest first."""
        return self._remote.logs()

    def error(self) -> Failure | None:
        """Why it has ended without a result: code and detail; None while it goes on."""
        return self._remote.failure()
