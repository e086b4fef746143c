"""Samplers and estimators on a running platform: one job, whatever is swept."""

from __future__ import annotations

import math

import pytest

from .live import connect

# isort: split
import numpy as np
from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister
from qiskit.circuit import Parameter
from qiskit.quantum_info import SparsePauliOp

from platform_quantum import EstimatorV2, JobFailedError, PlatformBackend, SamplerV2

from ..support.wire import make_ghz


@pytest.fixture(scope="module")
def backend() -> PlatformBackend:
    return connect().get_backend("sim.statevector")


def make_rotation() -> QuantumCircuit:
    circuit = QuantumCircuit(1)
    circuit.rx(Parameter("angle"), 0)
    return circuit


def test_a_sweep_of_64_angles_has_the_shape_of_its_angles(backend: PlatformBackend) -> None:
    circuit = make_rotation()
    circuit.measure_all()
    angles = np.linspace(0, 2 * math.pi, 64)
    job = SamplerV2(backend, {"seed": 1}).run([(circuit, angles)], shots=400)
    (found,) = job.result()
    assert found.data.meas.shape == (64,)
    assert found.data.meas.num_shots == 400
    ones = np.array([found.data.meas.get_counts(at).get("1", 0) for at in range(64)]) / 400
    assert np.abs(ones - np.sin(angles / 2) ** 2).max() < 0.12


def test_pubs_have_registers_and_shots_of_their_own(backend: PlatformBackend) -> None:
    circuit = QuantumCircuit(
        QuantumRegister(3), ClassicalRegister(2, "a"), ClassicalRegister(1, "b")
    )
    circuit.x([0, 2])
    circuit.measure([0, 1, 2], [0, 1, 2])
    first, second = SamplerV2(backend).run([(circuit, None, 5), make_ghz(2)], shots=9).result()
    assert first.data.a.get_counts() == {"01": 5}
    assert first.data.b.get_counts() == {"1": 5}
    assert first.join_data(["a", "b"]).get_counts() == {"101": 5}
    assert second.data.meas.num_shots == 9


def test_a_bell_pair_has_its_expectation_values(backend: PlatformBackend) -> None:
    circuit = QuantumCircuit(2)
    circuit.h(0)
    circuit.cx(0, 1)
    observable = SparsePauliOp.from_list([("ZZ", 1), ("XX", 1), ("ZI", 1)])
    (found,) = EstimatorV2(backend).run([(circuit, observable)]).result()
    assert found.data.evs == pytest.approx(2)
    assert found.data.stds == pytest.approx(0)


def test_observables_and_parameters_are_broadcast(backend: PlatformBackend) -> None:
    angles = np.array([0, math.pi / 2, math.pi])
    pub = (make_rotation(), [["Z"], ["Y"]], angles)
    (found,) = EstimatorV2(backend).run([pub]).result()
    assert found.data.evs.shape == (2, 3)
    assert found.data.evs == pytest.approx(np.array([np.cos(angles), -np.sin(angles)]), abs=1e-9)


def test_a_precision_is_kept(backend: PlatformBackend) -> None:
    circuit = QuantumCircuit(1)
    circuit.h(0)
    (found,) = EstimatorV2(backend, {"seed": 1}).run([(circuit, "Z")], precision=0.05).result()
    assert abs(found.data.evs) < 0.25
    assert found.data.stds == pytest.approx(0.05, rel=0.5)


def test_a_job_is_opened_again(backend: PlatformBackend) -> None:
    job = SamplerV2(backend).run([make_ghz(2)], shots=9)
    counts = job.result()[0].data.meas.get_counts()
    assert job.done()
    again = SamplerV2(backend).job(job.job_id())
    assert again.result()[0].data.meas.get_counts() == counts


def test_a_backend_that_does_not_estimate_says_so() -> None:
    noisy = connect().get_backend("sim.noisy")
    with pytest.raises(JobFailedError) as raised:
        EstimatorV2(noisy).run([(QuantumCircuit(1), "Z")]).result()
    assert raised.value.code == "INVALID_INPUT"
