"""Circuits on sim.statevector of a running platform, as users run them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from .live import ENDPOINT, TOKEN, connect

# isort: split
from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister, transpile
from qiskit.circuit import Parameter
from qiskit.primitives import BackendSamplerV2
from qiskit.transpiler import CouplingMap

from platform_quantum import (
    BackendNotFoundError,
    InvalidProblemError,
    JobFailedError,
    PlatformBackend,
    PlatformQuantumProvider,
)

from ..support.needs import need_packages
from ..support.wire import make_condition, make_ghz


@pytest.fixture(scope="module")
def provider() -> PlatformQuantumProvider:
    return connect()


@pytest.fixture(scope="module")
def backend(provider: PlatformQuantumProvider) -> PlatformBackend:
    return provider.get_backend("sim.statevector")


def flip_first(width: int = 3) -> QuantumCircuit:
    circuit = QuantumCircuit(width, width)
    circuit.x(0)
    circuit.measure(range(width), range(width))
    return circuit


def test_the_bundled_backends_are_listed(provider: PlatformQuantumProvider) -> None:
    bundled = {"sim.statevector", "sim.noisy", "sim.annealing", "sim.braket"}
    assert bundled <= set(provider.backends())
    described = {info.id: info for info in provider.backends(detailed=True)}
    assert described["sim.statevector"].qubit_count == 24
    assert described["sim.annealing"].type == "ANNEALER"
    assert provider.least_busy(min_qubits=20).num_qubits >= 20


def test_a_backend_that_is_not_there_is_told_with_those_that_are(
    provider: PlatformQuantumProvider,
) -> None:
    with pytest.raises(BackendNotFoundError, match=r"sim\.statevector"):
        provider.get_backend("sim.nothing")


def test_ghz(backend: PlatformBackend) -> None:
    counts = backend.run(make_ghz(3), shots=1000).result().get_counts()
    assert set(counts) == {"000", "111"}
    assert sum(counts.values()) == 1000
    assert 350 < counts["000"] < 650


@pytest.mark.parametrize("transport", ["qpy", "qasm3", "qasm2"])
def test_the_first_qubit_is_the_last_letter_whatever_the_transport(
    backend: PlatformBackend, transport: str
) -> None:
    result = backend.run(flip_first(), shots=10, transport=transport).result()
    assert result.get_counts() == {"001": 10}


def test_two_registers_print_with_a_blank(backend: PlatformBackend) -> None:
    circuit = QuantumCircuit(
        QuantumRegister(2), ClassicalRegister(1, "first"), ClassicalRegister(1, "second")
    )
    circuit.x(0)
    circuit.measure([0, 1], [0, 1])
    assert backend.run(circuit, shots=10).result().get_counts() == {"0 1": 10}


def test_the_shots_one_by_one_are_those_of_the_counts(backend: PlatformBackend) -> None:
    result = backend.run(make_ghz(4), shots=200).result()
    memory = result.get_memory()
    assert len(memory) == 200
    assert {text: memory.count(text) for text in set(memory)} == result.get_counts()
    shares = result.results[0].data.probabilities
    assert sum(shares.values()) == pytest.approx(1)


def test_fifty_circuits_are_one_job(backend: PlatformBackend) -> None:
    circuits = []
    for index in range(50):
        circuit = QuantumCircuit(6, name=f"number {index}")
        for bit in range(6):
            if index >> bit & 1:
                circuit.x(bit)
        circuit.measure_all()
        circuits.append(circuit)
    job = backend.run(circuits, shots=5)
    result = job.result()
    assert [result.get_counts(index) for index in range(50)] == [
        {f"{index:06b}": 5} for index in range(50)
    ]
    assert result.get_counts("number 7") == {"000111": 5}


def test_mid_circuit_measurements_and_conditions_are_run(backend: PlatformBackend) -> None:
    assert backend.run(make_condition(), shots=10).result().get_counts() == {"11": 10}


def test_a_transpiled_circuit_runs(backend: PlatformBackend) -> None:
    circuit = QuantumCircuit(4)
    circuit.h(0)
    circuit.mcx([0, 1, 2], 3)
    circuit.measure_all()
    counts = backend.run(transpile(circuit, backend), shots=100).result().get_counts()
    assert set(counts) == {"0000", "0001"}


def test_a_circuit_fits_the_coupling_of_a_device(provider: PlatformQuantumProvider) -> None:
    device = provider.get_backend("sim.noisy")
    circuit = transpile(make_ghz(5), device, seed_transpiler=1)
    coupling = device.coupling_map
    assert isinstance(coupling, CouplingMap)
    edges = set(coupling.get_edges())
    for instruction in circuit.get_instructions("cx"):
        places = tuple(circuit.find_bit(qubit).index for qubit in instruction.qubits)
        assert places in edges
    assert device.target["cx"][next(iter(edges))].error > 0
    assert device.target.qubit_properties[0].t1 > 0
    counts = device.run(circuit, shots=1000).result().get_counts()
    assert 700 < counts.get("00000", 0) + counts.get("11111", 0) < 1000


def test_a_rehearsal_gives_exactly_the_shots_of_the_backend(
    provider: PlatformQuantumProvider,
) -> None:
    need_packages("qiskit_aer")
    device = provider.get_backend("sim.noisy")
    circuit = transpile(make_ghz(4), device, optimization_level=1, seed_transpiler=1)
    found = device.run(circuit, shots=500, seed=11).result()
    simulator = device.rehearse()
    rehearsed = simulator.run(circuit, shots=500, seed_simulator=11, memory=True).result()
    assert rehearsed.get_counts() == found.get_counts()
    assert rehearsed.get_memory() == found.get_memory()


def test_what_the_backend_would_refuse_is_refused_before_it_is_sent(
    backend: PlatformBackend,
) -> None:
    unbound = QuantumCircuit(1, 1)
    unbound.rx(Parameter("a"), 0)
    unbound.measure(0, 0)
    with pytest.raises(InvalidProblemError, match="25 qubits"):
        backend.run(make_ghz(25))
    with pytest.raises(InvalidProblemError, match="without a value: a"):
        backend.run(unbound)
    with pytest.raises(InvalidProblemError, match="measures nothing"):
        backend.run(QuantumCircuit(1))
    with pytest.raises(InvalidProblemError, match="shots"):
        backend.run(make_ghz(2), shots=10**9)
    with pytest.raises(InvalidProblemError, match="circuits"):
        backend.run([make_ghz(2)] * 301)


def test_the_same_seed_gives_the_same_shots(backend: PlatformBackend) -> None:
    memories = [
        backend.run(make_ghz(5), shots=50, seed=seed).result().get_memory() for seed in (3, 3, 4)
    ]
    assert memories[0] == memories[1]
    assert memories[0] != memories[2]


def test_more_qubits_by_a_method_that_has_them(backend: PlatformBackend) -> None:
    counts = backend.run(make_ghz(60), shots=20, method="stabilizer").result().get_counts()
    assert set(counts) <= {"0" * 60, "1" * 60}


def test_a_failed_job_says_why(backend: PlatformBackend) -> None:
    job = backend.run(make_ghz(2), shots=1, method="dreams")
    with pytest.raises(JobFailedError) as raised:
        job.result()
    assert raised.value.code == "INVALID_INPUT"
    error = job.error()
    assert error is not None
    assert "automatic" in error.detail
    assert job.status().name == "ERROR"


def test_the_sampler_of_qiskit_measures_what_there_is(backend: PlatformBackend) -> None:
    (found,) = BackendSamplerV2(backend=backend).run([flip_first()], shots=50).result()
    assert found.data.c.get_counts() == {"001": 50}


def test_a_job_is_retrieved_by_its_id_in_another_process(backend: PlatformBackend) -> None:
    circuit = make_ghz(3)
    circuit.name = "retrieved"
    job = backend.run(circuit, shots=30, seed=1, tags=["one", "two"], name="a job")
    counts = job.result().get_counts()
    program = (
        "import sys\n"
        "from platform_quantum import PlatformQuantumProvider\n"
        "provider = PlatformQuantumProvider(*sys.argv[1:3], endpoint=sys.argv[3])\n"
        "job = provider.retrieve_job(sys.argv[4])\n"
        "print(job.result().get_counts('retrieved'), job.shots, sorted(job.tags), job.name)\n"
        "print(job.backend().id, job.status().name)\n"
    )
    arguments = [TOKEN, "", ENDPOINT, job.id]
    found = subprocess.run(
        [sys.executable, "-c", program, *arguments], check=True, capture_output=True, text=True
    ).stdout
    assert found.splitlines() == [
        f"{counts} 30 ['one', 'two'] a job",
        "sim.statevector DONE",
    ]


def test_jobs_are_listed_and_filtered(
    provider: PlatformQuantumProvider, backend: PlatformBackend
) -> None:
    jobs = [backend.run(make_ghz(2), shots=1, tags=["listed"]) for _ in range(3)]
    for job in jobs:
        job.result()
    found = [job.id for job in provider.jobs(limit=3, tags=["listed"], status="COMPLETED")]
    assert found == [job.id for job in reversed(jobs)]
    assert next(iter(provider.jobs(backend="sim.statevector"))).backend().id == "sim.statevector"


def test_a_job_is_started_once_for_one_key(backend: PlatformBackend) -> None:
    circuit, key = make_ghz(2), f"once-{id(backend)}"
    jobs = [backend.run(circuit, shots=1, idempotency_key=key) for _ in range(2)]
    assert jobs[0].id == jobs[1].id


def test_a_running_job_is_cancelled(backend: PlatformBackend) -> None:
    circuit = QuantumCircuit(22)
    for layer in range(400):
        for qubit in range(22):
            circuit.rx(0.1 + layer, qubit)
        for qubit in range(21):
            circuit.cx(qubit, qubit + 1)
    circuit.measure_all()
    job = backend.run(circuit, shots=10)
    job.cancel()
    job.wait_for_final_state(timeout=60)
    assert job.cancelled()
