"""A vendor in memory, and what the platform keeps of an execution, for tests of `external`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from platform_quantum.backend import BackendFailure, VendorJob, external

from .wire import make_data, make_ghz, run_over_wire

if TYPE_CHECKING:
    from collections.abc import Callable

PROFILE = {"qubits": 4, "gates": ["h", "x", "rz", "sx", "cx"], "options": ["level"]}


class Vendor:
    """In memory; it loses answers and is away when it is told to."""

    def __init__(self) -> None:
        self.jobs: dict[str, VendorJob] = {}
        self.calls: list[str] = []
        self.faults: dict[str, list[Exception]] = {}

    def _take(self, name: str) -> None:
        self.calls.append(name)
        if self.faults.get(name):
            raise self.faults[name].pop(0)

    def submit(self, job: VendorJob) -> str:
        number = f"job-{len(self.jobs)}"
        self.jobs[number] = job
        self._take("submit")
        return number

    def poll(self, job: str) -> Any:
        self._take("poll")
        found = self.jobs[job].circuits
        return [{"memory": ["0x3"] * circuit["shots"]} for circuit in found]

    def cancel(self, _: str) -> None:
        self._take("cancel")

    def find(self, tag: str) -> str | None:
        self._take("find")
        return next((number for number, job in self.jobs.items() if job.tag == tag), None)


class Held:
    """What the platform keeps of an execution."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.handle: str | None = None
        self.was_lost = False
        module = "platform_quantum.backend.vendor"
        monkeypatch.setattr(f"{module}.keep_handle", self.keep)
        monkeypatch.setattr(f"{module}.get_handle", lambda: self.handle)
        monkeypatch.setattr(f"{module}.was_lost", lambda: self.was_lost)
        monkeypatch.setattr(f"{module}.time.sleep", lambda _: None)
        monkeypatch.setenv("SERVICE_EXECUTION_ID", "0192")
        monkeypatch.setenv("SERVICE_EXECUTION_ATTEMPT", "1")

    def keep(self, handle: str) -> None:
        self.handle = handle


def make(vendor: Vendor, **more: Any) -> Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]:
    functions = (vendor.submit, vendor.poll, vendor.cancel, vendor.find)
    run, _ = external(*functions, **{"profile": PROFILE, "patience": 0.0, **more})
    return run


def refuse(run: Any, data: Any = None, **params: Any) -> BackendFailure:
    with pytest.raises(BackendFailure) as raised:
        run_over_wire(run, make_data(make_ghz(2)) if data is None else data, **params)
    return raised.value
