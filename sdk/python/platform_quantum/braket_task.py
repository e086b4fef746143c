"""Tasks of a device for Braket: a job, or one program of a job."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import numpy as np
from braket.task_result import GateModelTaskResult
from braket.tasks import GateModelQuantumTaskResult, QuantumTask, QuantumTaskBatch

from .errors import PlatformError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .remote_job import RemoteJob

_STATES = {"PENDING": "QUEUED", "ABORTED": "FAILED"}
"""Those that Braket calls otherwise."""


class PlatformBraketTask(QuantumTask):  # type: ignore[misc, unused-ignore]
    """A program that runs; `job` is the same without Braket."""

    def __init__(self, job: RemoteJob, index: int | None = None) -> None:
        self.job = job
        self._index = index
        self._result: GateModelQuantumTaskResult | None = None

    def __repr__(self) -> str:
        return f"PlatformBraketTask({self.id!r})"

    @property
    def id(self) -> str:
        """The id of the job; with `#` and its number, where the job has several programs."""
        return self.job.id if self._index is None else f"{self.job.id}#{self._index}"

    def state(self) -> str:
        """QUEUED, RUNNING, COMPLETED, FAILED or CANCELLED."""
        status = self.job.refresh().status
        return _STATES.get(status, status)

    def metadata(self, use_cached_value: bool = False) -> dict[str, Any]:
        """The job as the platform shows it."""
        info = self.job.known if use_cached_value else self.job.refresh()
        return info.raw

    def cancel(self) -> None:
        """Cancels the job, with all of its programs."""
        self.job.cancel()

    def result(self, timeout: float | None = None) -> GateModelQuantumTaskResult:
        """Waits for the end, and returns what was measured and computed.

        :raises JobFailedError: the backend has refused the program, or failed
        :raises JobTimeoutError: it has not ended within `timeout` seconds
        """
        if self._result is None:
            raw = self.job.raw_result(timeout)
            try:
                told = raw if self._index is None else raw["results"][self._index]
                self._result = _read(told, self.id)
            except (KeyError, IndexError, TypeError, ValueError) as error:
                reason = f"{type(error).__name__}: {error}"
                detail = f"The result of job {self.id} is no task result: {reason}"
                raise PlatformError(detail) from error
        return self._result

    def async_result(self) -> asyncio.Task[GateModelQuantumTaskResult]:
        """The same, to be awaited."""
        return asyncio.create_task(asyncio.to_thread(self.result))


class PlatformBraketBatch(QuantumTaskBatch):  # type: ignore[misc, unused-ignore]
    """The programs of one job."""

    def __init__(self, tasks: Sequence[PlatformBraketTask]) -> None:
        self.tasks = list(tasks)

    def __repr__(self) -> str:
        return f"PlatformBraketBatch({self.tasks!r})"

    def results(self, timeout: float | None = None) -> list[GateModelQuantumTaskResult]:
        """Waits for the end, and returns the results in the order of the programs."""
        return [task.result(timeout) for task in self.tasks]


def _read(told: dict[str, Any], task_id: str) -> GateModelQuantumTaskResult:
    metadata = {**told["taskMetadata"], "id": task_id}
    result = GateModelTaskResult.parse_raw(json.dumps({**told, "taskMetadata": metadata}))
    GateModelQuantumTaskResult.cast_result_types(result)
    for one in result.resultTypes or []:
        if one.type.type == "densitymatrix":
            parts = np.asarray(one.value)
            one.value = parts[..., 0] + 1j * parts[..., 1]
    return GateModelQuantumTaskResult.from_object(result)
