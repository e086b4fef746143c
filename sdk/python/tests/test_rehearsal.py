"""A rehearsal on this machine gives exactly the shots of the backend, for the same seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .support.needs import need_packages

need_packages("qiskit", "qiskit_aer", "qiskit_qasm3_import")

from qiskit import QuantumCircuit, transpile  # noqa: E402

from platform_quantum import PlatformBackend, PlatformQuantumProvider  # noqa: E402

from .conftest import TOKEN  # noqa: E402
from .support.running_server import RunningServer  # noqa: E402
from .support.wire import make_ghz  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def provider() -> Iterator[PlatformQuantumProvider]:
    server = RunningServer("noisy", "statevector")
    yield PlatformQuantumProvider(TOKEN, None, server.endpoint)
    server.close()


@pytest.fixture(scope="module")
def device(provider: PlatformQuantumProvider) -> PlatformBackend:
    return provider.get_backend("sim.noisy")


def make_busy(width: int) -> QuantumCircuit:
    """Gates of every kind, measurements in the middle, and a condition."""
    circuit = QuantumCircuit(width, width)
    for index in range(width):
        circuit.ry(0.3 + index, index)
    for index in range(width - 1):
        circuit.cx(index, index + 1)
    circuit.measure(0, 0)
    with circuit.if_test((circuit.clbits[0], 1)):
        circuit.x(1)
    circuit.measure(range(width), range(width))
    return circuit


@pytest.mark.parametrize("transport", ["qpy", "qasm3"])
@pytest.mark.parametrize("seed", [0, 11, 2**31 - 1])
def test_every_shot_is_that_of_the_backend(
    device: PlatformBackend, seed: int, transport: str
) -> None:
    circuit = transpile(make_busy(4), device, optimization_level=1, seed_transpiler=1)
    found = device.run(circuit, shots=300, seed=seed, transport=transport).result()
    rehearsed = device.rehearse().run(circuit, shots=300, seed_simulator=seed, memory=True).result()
    assert rehearsed.get_memory() == found.get_memory()
    assert rehearsed.get_counts() == found.get_counts()
    assert len(found.get_counts()) > 4


def test_a_rehearsal_of_many_circuits_is_that_of_one_job(device: PlatformBackend) -> None:
    circuits = transpile([make_ghz(width) for width in (2, 3, 4)], device, seed_transpiler=1)
    found = device.run(circuits, shots=100, seed=5).result()
    rehearsed = device.rehearse().run(circuits, shots=100, seed_simulator=5, memory=True).result()
    for index in range(len(circuits)):
        assert rehearsed.get_memory(index) == found.get_memory(index)


def test_another_seed_and_no_noise_give_other_shots(device: PlatformBackend) -> None:
    circuit = transpile(make_ghz(4), device, seed_transpiler=1)
    found = device.run(circuit, shots=2_000, seed=1).result()
    other = device.rehearse().run(circuit, shots=2_000, seed_simulator=2, memory=True).result()
    assert other.get_memory() != found.get_memory()
    # What differs from the two outcomes of a perfect device is noise.
    assert set(found.get_counts()) > {"0000", "1111"}


def test_a_backend_without_calibration_is_rehearsed_without_noise(
    provider: PlatformQuantumProvider,
) -> None:
    exact = provider.get_backend("sim.statevector")
    assert exact.calibration() is None
    found = exact.run(make_ghz(3), shots=200, seed=3).result()
    rehearsed = exact.rehearse().run(make_ghz(3), shots=200, seed_simulator=3, memory=True)
    assert rehearsed.result().get_memory() == found.get_memory()


def test_the_target_says_what_the_calibration_says(device: PlatformBackend) -> None:
    calibration = device.calibration()
    assert calibration is not None
    for gate in calibration["gates"]:
        place = tuple(int(qubit) for qubit in gate["qubits"])
        properties = device.target[gate["name"]][place]
        assert (properties.error, properties.duration) == (gate["error"], gate["duration"])
    for qubit in calibration["qubits"]:
        known = device.target.qubit_properties[int(qubit["id"])]
        assert (known.t1, known.t2) == (qubit["t1"], qubit["t2"])
