"""sim.braket of a running platform: by the Braket SDK where it is installed, else by the API."""

from __future__ import annotations

import pytest

from .live import connect

# isort: split
from qiskit import QuantumCircuit

from platform_quantum import PlatformQuantumProvider, RemoteJob

from ..support.needs import need_packages
from ..support.wire import make_ghz

BELL = "OPENQASM 3.0;\nqubit[2] q;\nh q[0];\ncnot q[0], q[1];\n"


@pytest.fixture(scope="module")
def provider() -> PlatformQuantumProvider:
    return connect()


def test_a_program_of_braket_gives_a_task_result(provider: PlatformQuantumProvider) -> None:
    body = {
        "backend_id": "sim.braket",
        "input": {"source": BELL},
        "input_format": "BRAKET_OPEN_QASM_V3",
        "input_params": {"seed": 1},
        "shots": 50,
    }
    result = RemoteJob(provider.api, provider.api.start_job(body)).raw_result()
    assert {"".join(shot) for shot in result["measurements"]} == {"00", "11"}
    assert len(result["measurements"]) == 50


def test_its_properties_are_those_of_a_device(provider: PlatformQuantumProvider) -> None:
    config = provider.api.get_backend_part("sim.braket", "config")
    assert config["braketSchemaHeader"]["name"].startswith("braket.device_schema.simulators")
    assert config["paradigm"]["qubitCount"] == provider.get_backend("sim.braket").num_qubits


def test_circuits_of_qiskit_run_on_it(provider: PlatformQuantumProvider) -> None:
    backend = provider.get_backend("sim.braket")
    circuit = QuantumCircuit(3, 3)
    circuit.x(0)
    circuit.measure(range(3), range(3))
    assert backend.run(circuit, shots=5).result().get_counts() == {"001": 5}
    # A state of twenty qubits, as the sandbox lets it be made.
    assert set(backend.run(make_ghz(20), shots=20).result().get_counts()) == {"0" * 20, "1" * 20}


def test_a_device_of_braket_runs_on_it(provider: PlatformQuantumProvider) -> None:
    need_packages("braket.devices")
    from braket.circuits import Circuit

    from platform_quantum.braket import PlatformBraketDevice

    device = PlatformBraketDevice(provider=provider)
    circuit = Circuit().x(0).i(1)
    assert device.run(circuit, shots=5).result().measurement_counts == {"10": 5}
    results = device.run_batch([circuit, circuit], shots=3).results()
    assert [dict(result.measurement_counts) for result in results] == [{"10": 3}] * 2
