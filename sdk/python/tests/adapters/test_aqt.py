"""The adapter of AQT with its offline simulator, behind a transport that answers as ARNICA does."""

from __future__ import annotations

import json
import math
import uuid
from typing import TYPE_CHECKING, Any

import pytest

from ..support.needs import need_packages

need_packages("qiskit_aqt_provider")

import httpx  # noqa: E402
from qiskit import QuantumCircuit, transpile  # noqa: E402
from qiskit_aqt_provider import AQTProvider  # noqa: E402

from ..support.wire import make_ghz  # noqa: E402
from .support import (  # noqa: E402
    EXECUTION,
    SECRET,
    check_missing,
    load_adapter,
    refuse,
    run_counts,
)

if TYPE_CHECKING:
    from types import ModuleType


class Arnica:
    """AQT's cloud: one workspace with one device."""

    def __init__(self) -> None:
        self.simulator = AQTProvider().offline.ideal()
        self.jobs: dict[str, dict[str, Any]] = {}
        self.status = "finished"
        self.token = SECRET
        self.refusal: tuple[int, Any] | None = None
        self.requests: list[str] = []

    def answer(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/api/v1/")
        self.requests.append(f"{request.method} {path}")
        if request.headers["authorization"] != f"Bearer {self.token}":
            return httpx.Response(401, json={"detail": "no such token"})
        if path == "resources/ibex":
            return httpx.Response(200, json=self._describe())
        if path == "submit/ours/ibex":
            return self._submit(json.loads(request.content))
        job = self.jobs[path.split("/")[1]]
        if request.method == "DELETE":
            job["response"] = {"status": "cancelled"}
            return httpx.Response(204)
        return httpx.Response(200, json=job)

    def _describe(self) -> dict[str, Any]:
        told = {"id": "ibex", "name": "IBEX", "type": "device", "status": "online"}
        return {**told, "available_qubits": 6, "status_updated_at": "2026-11-28T12:00:00Z"}

    def _submit(self, request: dict[str, Any]) -> httpx.Response:
        if self.refusal is not None:
            return httpx.Response(self.refusal[0], json=self.refusal[1])
        number = str(uuid.uuid4())
        job = {"job_id": number, "label": request["label"], "resource_id": "ibex"}
        circuits = request["payload"]["circuits"]
        response: dict[str, Any] = {"status": self.status}
        if self.status == "finished":
            response["result"] = {place: self._run(one) for place, one in enumerate(circuits)}
        elif self.status == "error":
            response["message"] = "an ion was lost"
        elif self.status == "ongoing":
            response["finished_count"] = 0
        self.jobs[number] = {"job": {**job, "workspace_id": "ours"}, "response": response}
        return httpx.Response(200, json={"job": self.jobs[number]["job"]})

    def _run(self, circuit: dict[str, Any]) -> list[list[int]]:
        """By AQT's simulator, after the angles were found in the range that the API takes."""
        made = QuantumCircuit(circuit["number_of_qubits"])
        for one in circuit["quantum_circuit"]:
            theta, phi = one.get("theta", 0) * math.pi, one.get("phi", 0) * math.pi
            if one["operation"] == "R":
                assert 0 <= one["theta"] <= 1 and 0 <= one["phi"] <= 2
                made.r(theta, phi, one["qubit"])
            elif one["operation"] == "RZ":
                made.rz(phi, one["qubit"])
            elif one["operation"] == "RXX":
                assert 0 <= one["theta"] <= 0.5
                made.rxx(theta, *one["qubits"])
        made.measure_all()
        job = self.simulator.run(made, shots=circuit["repetitions"], memory=True)
        return [[int(bit) for bit in shot[::-1]] for shot in job.result().get_memory()]


@pytest.fixture
def vendor() -> Arnica:
    return Arnica()


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch, vendor: Arnica) -> ModuleType:
    program = load_adapter("aqt")
    monkeypatch.setenv("AQT_CLIENT_ID", "client")
    monkeypatch.setenv("AQT_CLIENT_SECRET", "client-" + SECRET)
    monkeypatch.setenv("AQT_WORKSPACE", "ours")
    monkeypatch.setenv("AQT_RESOURCE", "ibex")
    connect = program.connect

    def log_in(_: Any) -> str:
        """Auth0 issues tokens, which no test reaches."""
        program.read_setting("AQT_CLIENT_ID"), program.read_setting("AQT_CLIENT_SECRET")
        return vendor.token

    monkeypatch.setattr(program.Arnica, "log_in", log_in)
    monkeypatch.setattr(program, "TRANSPORT", httpx.MockTransport(vendor.answer))
    assert connect.cache_info().currsize == 0
    return program


def test_it_describes_the_device(adapter: ModuleType) -> None:
    described = adapter.describe()
    configuration = described["configuration"]
    assert (described["type"], described["display_name"]) == ("QPU", "ibex")
    assert (configuration["qubit_count"], configuration["max_pubs_per_job"]) == (6, 50)
    assert [gate["name"] for gate in configuration["gates"]] == ["rz", "r", "rxx"]
    assert configuration["connectivity"]["fully_connected"] is True
    assert configuration["shots_range"] == {"min": 1, "max": 2000}


def test_a_circuit_is_run_and_its_id_kept(
    adapter: ModuleType, vendor: Arnica, kept: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    result = run_counts(adapter, make_ghz(3), shots=400)
    (pub,) = result["pubs"]
    assert set(pub["counts"]) == {"000", "111"}
    ((number, job),) = vendor.jobs.items()
    assert (result["metadata"]["vendor_job_id"], kept) == (
        number,
        [f'{{"id": "{number}"}}'],
    )
    assert job["job"]["label"] == EXECUTION
    assert SECRET not in capsys.readouterr().out


def test_bits_are_in_the_order_of_the_circuit_and_circuits_in_that_of_the_job(
    adapter: ModuleType, vendor: Arnica
) -> None:
    turned = QuantumCircuit(3, 4)
    turned.x(2)
    turned.measure([2, 0], [0, 1])
    turned.rx(-1.0, 1)
    swapped = QuantumCircuit(4, 2)
    swapped.ry(-math.pi, 0)
    swapped.swap(0, 3)
    swapped.measure([3, 1], [0, 1])
    native = transpile(swapped, vendor.simulator, optimization_level=2)
    pubs = run_counts(adapter, turned, swapped, native, shots=50)["pubs"]
    assert [pub["counts"] for pub in pubs] == [{"0001": 50}, {"01": 50}, {"01": 50}]


def test_a_job_that_was_submitted_is_only_asked_for(adapter: ModuleType, vendor: Arnica) -> None:
    run_counts(adapter, make_ghz(2), shots=10)
    vendor.requests.clear()
    number = run_counts(adapter, make_ghz(2), shots=10)["metadata"]["vendor_job_id"]
    assert vendor.requests == [f"GET result/{number}"]


def make_job() -> Any:
    from platform_quantum.backend import VendorJob, circuits

    return VendorJob([circuits.to_plain(make_ghz(2), 10)], EXECUTION)


@pytest.mark.parametrize("status", ["queued", "ongoing"])
def test_a_job_that_waits_is_cancelled_and_another_is_not(
    adapter: ModuleType, vendor: Arnica, status: str
) -> None:
    vendor.status = status
    number = adapter.submit(make_job())
    assert adapter.poll(number) == status
    adapter.cancel(number)
    assert vendor.jobs[number]["response"] == {"status": "cancelled"}
    adapter.cancel(number)
    assert vendor.requests.count(f"DELETE jobs/{number}") == 1


def test_a_token_whose_time_is_over_is_fetched_anew(adapter: ModuleType, vendor: Arnica) -> None:
    adapter.describe()
    vendor.token = "the next"
    assert run_counts(adapter, make_ghz(2), shots=10)["pubs"][0]["shots"] == 10
    assert len(vendor.jobs) == 1


@pytest.mark.parametrize(
    ("refusal", "code"),
    [
        ((402, {"detail": "no credits"}), "VENDOR_REJECTED"),
        ((429, {"detail": "too many"}), "BACKEND_OFFLINE"),
        ((503, {"detail": "maintenance"}), "VENDOR_ERROR"),
        ((200, {"job": "garbage"}), "VENDOR_ERROR"),
    ],
)
def test_refusals_have_codes(
    adapter: ModuleType, vendor: Arnica, refusal: tuple[int, Any], code: str
) -> None:
    vendor.refusal = refusal
    failure = refuse(adapter, shots=10)
    assert failure.code == code
    assert ("may have been submitted" in failure.detail) == (refusal[0] in (200, 503))


def test_a_job_that_has_failed_says_why(adapter: ModuleType, vendor: Arnica) -> None:
    vendor.status = "error"
    failure = refuse(adapter, shots=10)
    assert (failure.code, "an ion was lost" in failure.detail) == ("VENDOR_ERROR", True)


def test_a_qubit_that_is_used_after_its_measurement_is_refused(adapter: ModuleType) -> None:
    circuit = QuantumCircuit(1, 2)
    circuit.measure(0, 0)
    circuit.x(0)
    circuit.measure(0, 1)
    assert refuse(adapter, circuit, shots=10).code == "GATE_UNSUPPORTED"


def test_a_key_that_is_missing_or_wrong_is_told(
    adapter: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_missing(monkeypatch, adapter, "AQT_CLIENT_SECRET", "AQT_WORKSPACE", "AQT_RESOURCE")
    monkeypatch.setenv("AQT_TOKEN", "another")
    adapter.connect.cache_clear()
    with pytest.raises(httpx.HTTPStatusError, match="401") as raised:
        adapter.describe()
    assert "another" not in str(raised.value)
