"""Sessions, earlier jobs as answers, and dry runs: by every entrance of the SDK, on a platform."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import pytest

from .live import connect

# isort: split
from qiskit import QuantumCircuit

from platform_quantum import (
    ApiError,
    EstimatorV2,
    PlatformBackend,
    PlatformQuantumProvider,
    SamplerV2,
    Session,
)

from ..support.needs import need_packages
from ..support.wire import make_ghz

if TYPE_CHECKING:
    from platform_quantum import RemoteJob

TTL = 600


@pytest.fixture(scope="module")
def provider() -> PlatformQuantumProvider:
    return connect()


@pytest.fixture(scope="module")
def backend(provider: PlatformQuantumProvider) -> PlatformBackend:
    return provider.get_backend("sim.statevector")


def run(backend: PlatformBackend, options: dict[str, Any]) -> RemoteJob:
    job = backend.run(make_ghz(2), shots=20, **options)
    job.result(timeout=60)
    return job.remote


def sample(backend: PlatformBackend, options: dict[str, Any]) -> RemoteJob:
    job = SamplerV2(backend, options).run([make_ghz(2)], shots=20)
    job.result(timeout=60)
    return job.remote


def expect(backend: PlatformBackend, options: dict[str, Any]) -> RemoteJob:
    job = EstimatorV2(backend, options).run([(QuantumCircuit(1), "Z")])
    job.result(timeout=60)
    return job.remote


@pytest.mark.parametrize("start", [run, sample, expect])
def test_an_earlier_job_answers_the_same_one(backend: PlatformBackend, start: Any) -> None:
    options = {"seed": secrets.randbelow(2**31), "cache": True}
    first, second = (start(backend, options) for _ in range(2))
    assert (first.cached_from, second.cached_from) == (None, first.id)
    assert first.digest == second.digest
    other = start(backend, {**options, "seed": secrets.randbelow(2**31)})
    assert other.cached_from is None


def test_jobs_of_all_entrances_are_in_a_session(backend: PlatformBackend) -> None:
    with backend.open_session(TTL) as session:
        for mode in (session, backend):
            for start in (sample, expect):
                options = {} if mode is session else {"session": session.id}
                job = start(mode, options)
                assert job.known.raw["session_id"] == session.id
        run(backend, {"session": session})
        assert (session.status(), session.details()["job_count"]) == ("INACTIVE", 5)
    assert session.status() == "CLOSED"
    with pytest.raises(ApiError) as raised:
        run(backend, {"session": session})
    assert raised.value.code == "CONFLICT"


def test_what_a_job_would_need_is_asked_of_all_entrances(
    provider: PlatformQuantumProvider, backend: PlatformBackend
) -> None:
    before = next(iter(provider.jobs(limit=1)), None)
    for found in (
        backend.estimate(make_ghz(2)),
        SamplerV2(backend).estimate([make_ghz(2)]),
        EstimatorV2(backend).estimate([(QuantumCircuit(1), "Z")]),
    ):
        assert (found.valid, found.cost) == (True, 0)
    after = next(iter(provider.jobs(limit=1)), None)
    assert getattr(after, "id", None) == getattr(before, "id", None)


def check_session(session: Session, jobs: int) -> None:
    assert session.details()["job_count"] == jobs
    session.close()


def test_annealers_have_the_same(provider: PlatformQuantumProvider) -> None:
    need_packages("dimod")
    import dimod

    from platform_quantum.annealing import PlatformSampler

    sampler = PlatformSampler(provider=provider)
    problem = dimod.BinaryQuadraticModel({"a": 1}, {}, 0, "SPIN")
    assert sampler.estimate(problem, num_reads=3).valid
    session = sampler.open_session(TTL)
    found = sampler.sample(problem, session=session, max_cost=1, cache=True, seed=1, max_wait=60)
    assert found.first.energy == -1
    check_session(session, 1)


def test_devices_of_braket_have_the_same(provider: PlatformQuantumProvider) -> None:
    need_packages("braket.devices")
    from braket.circuits import Circuit

    from platform_quantum.braket import PlatformBraketDevice

    device = PlatformBraketDevice(provider=provider)
    circuit = Circuit().h(0)
    assert device.estimate(circuit, shots=3).valid
    session = device.open_session(TTL)
    options = {"cache": True, "max_cost": 1, "seed": secrets.randbelow(2**31), "session": session}
    first = device.run(circuit, shots=30, **options)
    counts = first.result(timeout=60).measurement_counts
    second = device.run(circuit, shots=30, **options)
    assert second.job.cached_from == first.id
    assert second.result().measurement_counts == counts
    check_session(session, 2)


def test_devices_of_pennylane_have_the_same(
    provider: PlatformQuantumProvider, backend: PlatformBackend
) -> None:
    need_packages("pennylane", "pennylane_qiskit")
    import pennylane as qml

    from platform_quantum.pennylane import PlatformQubitDevice

    session = backend.open_session(TTL)
    options = {"session": session, "seed": secrets.randbelow(2**31), "cache": True, "max_cost": 1}
    device = PlatformQubitDevice(1, "sim.statevector", provider, **options)

    @qml.set_shots(40)
    @qml.qnode(device)
    def circuit() -> Any:
        qml.Hadamard(0)
        return qml.counts(wires=[0])

    assert dict(circuit()) == dict(circuit())
    newest = next(iter(provider.jobs(limit=1)))
    # PennyLane makes registers without a name, which Qiskit counts: no two jobs have one digest.
    assert newest.remote.known.raw["session_id"] == session.id
    check_session(session, 2)
