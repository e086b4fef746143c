"""PennyLane: by its own device for Qiskit, and by the device of this package."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from .support.needs import need_packages

need_packages("pennylane", "pennylane_qiskit", "qiskit", "qiskit_aer", "qiskit_qasm3_import")

import pennylane as qml  # noqa: E402

from platform_quantum import (  # noqa: E402
    InvalidProblemError,
    PlatformQuantumProvider,
    Session,
)
from platform_quantum.pennylane import PlatformQubitDevice  # noqa: E402

from .conftest import TOKEN  # noqa: E402
from .support.entrances import OPTIONS, check_started, read_started  # noqa: E402
from .support.running_server import RunningServer  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

SHOTS = 400


@pytest.fixture(scope="module")
def provider() -> Iterator[PlatformQuantumProvider]:
    server = RunningServer("statevector")
    yield PlatformQuantumProvider(TOKEN, None, server.endpoint)
    server.close()


def make_devices(provider: PlatformQuantumProvider) -> dict[str, Any]:
    backend = provider.get_backend("sim.statevector")
    return {
        "qiskit.remote": qml.device("qiskit.remote", wires=2, backend=backend),
        "platform.qubit": PlatformQubitDevice(2, "sim.statevector", provider),
    }


def measure(device: Any, angle: float) -> list[float]:
    @qml.set_shots(SHOTS)
    @qml.qnode(device)
    def circuit(angle: float) -> Any:
        qml.RX(angle, wires=0)
        qml.CNOT(wires=[0, 1])
        return qml.expval(qml.PauliZ(0)), qml.expval(qml.PauliZ(1))

    return [float(value) for value in circuit(angle)]


@pytest.mark.parametrize("name", ["qiskit.remote", "platform.qubit"])
def test_expectation_values_at_0_and_pi(provider: PlatformQuantumProvider, name: str) -> None:
    device = make_devices(provider)[name]
    assert measure(device, 0) == pytest.approx([1, 1])
    assert measure(device, math.pi) == pytest.approx([-1, -1])
    assert measure(device, math.pi / 2)[0] == pytest.approx(0, abs=0.25)


@pytest.mark.parametrize("name", ["qiskit.remote", "platform.qubit"])
def test_the_first_wire_is_the_first_letter(provider: PlatformQuantumProvider, name: str) -> None:
    @qml.set_shots(7)
    @qml.qnode(make_devices(provider)[name])
    def circuit() -> Any:
        qml.PauliX(0)
        return qml.counts(wires=[0, 1])

    assert dict(circuit()) == {"10": 7}


def test_a_gradient_is_that_of_the_angle(provider: PlatformQuantumProvider) -> None:
    device = PlatformQubitDevice(1, provider.get_backend("sim.statevector"))

    @qml.set_shots(4_000)
    @qml.qnode(device, diff_method="parameter-shift")
    def circuit(angle: Any) -> Any:
        qml.RX(angle, wires=0)
        return qml.expval(qml.PauliZ(0))

    angle = qml.numpy.array(0.7, requires_grad=True)
    assert float(qml.grad(circuit)(angle)) == pytest.approx(-math.sin(0.7), abs=0.08)


def test_budget_cache_and_session_are_those_of_all_of_its_jobs(
    provider: PlatformQuantumProvider,
) -> None:
    running = RunningServer("statevector")
    for session in (Session(provider.api, {"id": "s-1"}), "s-1"):
        own = PlatformQuantumProvider(TOKEN, None, running.endpoint)
        device = PlatformQubitDevice(
            1, "sim.statevector", own, session=session, method="statevector", **OPTIONS
        )
        counts = measure_alone(device)
        assert counts == measure_alone(device)
        body = read_started(running)
        assert body["input_params"].pop("method") == "statevector"
        check_started(running, "s-1")
    running.close()
    with pytest.raises(InvalidProblemError, match=r"estimate\(\)"):
        PlatformQubitDevice(1, "sim.statevector", provider, dry_run=True)


def measure_alone(device: Any) -> dict[str, int]:
    @qml.set_shots(SHOTS)
    @qml.qnode(device)
    def circuit() -> Any:
        qml.Hadamard(0)
        return qml.counts(wires=[0])

    return dict(circuit())


def test_more_wires_than_qubits_are_refused(provider: PlatformQuantumProvider) -> None:
    with pytest.raises(ValueError, match="24"):
        PlatformQubitDevice(25, "sim.statevector", provider)
    with pytest.raises(InvalidProblemError, match="backend must be the id"):
        PlatformQubitDevice(1, 5, provider)
