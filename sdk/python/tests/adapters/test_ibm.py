"""The adapter of IBM Quantum with a fake device, in the local mode of qiskit-ibm-runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ..support.needs import need_packages

need_packages("qiskit_ibm_runtime", "qiskit_aer")

from qiskit import QuantumCircuit, transpile  # noqa: E402
from qiskit_ibm_runtime.exceptions import IBMNotAuthorizedError, IBMRuntimeError  # noqa: E402
from qiskit_ibm_runtime.fake_provider import FakeManilaV2  # noqa: E402

from platform_quantum.backend import BackendFailure  # noqa: E402

from ..support.wire import make_data, make_ghz, run_over_wire  # noqa: E402
from .support import load_adapter  # noqa: E402

if TYPE_CHECKING:
    from types import ModuleType


class Service:
    """IBM's service, as far as the adapter asks it; jobs run in this process, on a fake device."""

    def __init__(self) -> None:
        self.device = FakeManilaV2()
        self.jobs_made: dict[str, tuple[list[str], Any]] = {}

    def backend(self, name: str) -> FakeManilaV2:
        assert name == "fake_manila"
        return self.device

    def job(self, job_id: str) -> Any:
        return self.jobs_made[job_id][1]

    def jobs(self, job_tags: list[str], limit: int) -> list[Any]:
        return [job for tags, job in self.jobs_made.values() if set(job_tags) <= set(tags)][:limit]


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch, service: Service) -> ModuleType:
    program = load_adapter("ibm")
    monkeypatch.setenv("IBM_QUANTUM_DEVICE", "fake_manila")
    monkeypatch.setenv("SERVICE_EXECUTION_ID", "0192")
    monkeypatch.setattr(program, "connect", lambda: service)
    sampler = program.SamplerV2

    class NotingSampler(sampler):  # type: ignore[misc,valid-type]
        """The local mode forgets tags and jobs."""

        def run(self, pubs: Any, **more: Any) -> Any:
            job = super().run(pubs, **more)
            service.jobs_made[job.job_id()] = (list(self.options.environment.job_tags), job)
            return job

    monkeypatch.setattr(program, "SamplerV2", NotingSampler)
    program.find_device.cache_clear()
    return program


def test_it_describes_the_device(adapter: ModuleType) -> None:
    described = adapter.describe()
    configuration = described["configuration"]
    assert (described["type"], described["display_name"]) == ("QPU", "fake_manila")
    assert configuration["qubit_count"] == 5
    assert {"cx", "rz", "sx", "x"} <= {gate["name"] for gate in configuration["gates"]}
    assert configuration["connectivity"]["graph"]["1"] == ["0", "2"]
    names = {gate["name"] for gate in described["calibration"]["gates"]}
    assert {"cx", "measure"} <= names


def test_a_circuit_is_run_and_found_by_its_tag(adapter: ModuleType) -> None:
    result = run_over_wire(adapter.run, {**make_data(make_ghz(3)), "shape": "counts"}, shots=400)
    (pub,) = result["pubs"]
    assert sum(pub["counts"].values()) == 400
    assert pub["counts"]["000"] + pub["counts"]["111"] > 300
    assert adapter.find("0192") == result["metadata"]["vendor_job_id"]
    assert adapter.find("another") is None
    adapter.cancel(adapter.find("0192"))


def test_bits_are_in_the_order_of_the_circuit_and_circuits_in_that_of_the_job(
    adapter: ModuleType,
) -> None:
    turned = QuantumCircuit(3, 2)
    turned.x(2)
    turned.measure([2, 0], [0, 1])
    placed = QuantumCircuit(5, 1)
    placed.x(4)
    placed.measure(4, 0)
    placed = transpile(placed, FakeManilaV2(), initial_layout=range(5))
    data = {**make_data(turned, placed), "shape": "counts"}
    first, second = run_over_wire(adapter.run, data, shots=300)["pubs"]
    assert max(first["counts"], key=first["counts"].get) == "01"
    assert max(second["counts"], key=second["counts"].get) == "1"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (IBMNotAuthorizedError("no"), "VENDOR_REJECTED"),
        (IBMRuntimeError("away"), "VENDOR_ERROR"),
        (ConnectionError("away"), "BACKEND_OFFLINE"),
    ],
)
def test_failures_have_the_codes_of_the_vendor(
    adapter: ModuleType, monkeypatch: pytest.MonkeyPatch, error: Exception, code: str
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(adapter.SamplerV2, "run", fail)
    monkeypatch.setattr("platform_quantum.backend.vendor.time.sleep", lambda _: None)
    with pytest.raises(BackendFailure) as raised:
        run_over_wire(adapter.run, make_data(make_ghz(2)), shots=10)
    assert raised.value.code == code


def test_an_answer_that_says_no_is_a_refusal(
    adapter: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Answer(Exception):
        status_code = 403

    def fail(*_: Any, **__: Any) -> None:
        raise IBMRuntimeError("no budget") from Answer()

    monkeypatch.setattr(adapter.SamplerV2, "run", fail)
    with pytest.raises(BackendFailure, match="no budget") as raised:
        run_over_wire(adapter.run, make_data(make_ghz(2)), shots=10)
    assert raised.value.code == "VENDOR_REJECTED"


def test_a_key_that_is_missing_is_told(
    adapter: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("IBM_QUANTUM_TOKEN", raising=False)
    with pytest.raises(BackendFailure, match="IBM_QUANTUM_TOKEN is not set"):
        load_adapter("ibm").connect()
    monkeypatch.delenv("IBM_QUANTUM_DEVICE")
    adapter.find_device.cache_clear()
    with pytest.raises(BackendFailure, match="IBM_QUANTUM_DEVICE is not set"):
        adapter.describe()
