"""The bundled backends, each imported as the platform does it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .support.needs import need_packages

need_packages("qiskit", "qiskit_aer", "dimod", "dwave", "braket.default_simulator")

import dimod  # noqa: E402
from qiskit import QuantumCircuit  # noqa: E402
from qiskit.circuit.library import QFTGate, UnitaryGate  # noqa: E402

from platform_quantum.backend import BackendFailure  # noqa: E402
from platform_quantum.models import JobInfo  # noqa: E402
from platform_quantum.qiskit.result import build_result  # noqa: E402

from .support.descriptions import describe_job  # noqa: E402
from .support.running_server import load_backend  # noqa: E402
from .support.wire import make_data, make_ghz, run_over_wire  # noqa: E402

BACKENDS = Path(__file__).parents[3] / "backends"
NAMES = ("annealing", "braket", "noisy", "statevector")
INFO = JobInfo.from_dict(describe_job("COMPLETED"))


@pytest.fixture(scope="module")
def statevector() -> ModuleType:
    return load_backend("statevector")


@pytest.fixture(scope="module")
def noisy() -> ModuleType:
    return load_backend("noisy")


def count(backend: ModuleType, circuit: QuantumCircuit, **params: object) -> dict[str, int]:
    raw = run_over_wire(backend.run, make_data(circuit), **params)
    counts: dict[str, int] = build_result(raw, INFO).get_counts()
    return counts


@pytest.mark.parametrize("name", NAMES)
def test_it_is_a_project_of_a_backend_that_describes_itself(name: str) -> None:
    project = json.loads((BACKENDS / name / "platform.json").read_text("utf-8"))
    described = load_backend(name).describe()
    assert project["backend"] == {"id": f"sim.{name}"}
    assert described["type"] == ("ANNEALER" if name == "annealing" else "SIMULATOR")
    assert len(json.dumps(described)) < 256 * 1024


@pytest.mark.parametrize("name", NAMES)
def test_its_import_starts_no_thread_so_that_the_platform_can_fork_it(name: str) -> None:
    program = (
        "import os, sys; sys.path[:0] = sys.argv[1:]\n"
        "import program; print(len(os.listdir('/proc/self/task')))"
    )
    places = [str(BACKENDS / name / "src"), str(Path(__file__).parents[1])]
    found = subprocess.run(
        [sys.executable, "-c", program, *places],
        check=True,
        capture_output=True,
        text=True,
        # As the platform's runner does: OpenBLAS gets its threads in each child.
        env={**os.environ, "OPENBLAS_NUM_THREADS": "01"},
    )
    assert found.stdout.strip() == "1"


def test_the_pinned_requirements_are_those_that_are_tested() -> None:
    from importlib.metadata import version

    for name in NAMES:
        for line in (BACKENDS / name / "requirements.txt").read_text("utf-8").splitlines():
            package, _, pinned = line.partition("==")
            if not package.startswith("platform-quantum"):
                assert version(package) == pinned, line


def test_loops_that_the_simulator_would_unroll_for_long_are_refused(
    statevector: ModuleType,
) -> None:
    circuit = QuantumCircuit(1, 1)
    with circuit.for_loop(range(65_284)):
        circuit.rz(0.1, 0)
    circuit.measure(0, 0)
    with pytest.raises(BackendFailure, match="more than 20,000") as raised:
        run_over_wire(statevector.run, make_data(circuit), shots=5)
    assert raised.value.code == "CIRCUIT_TOO_LARGE"


def test_equal_seeds_give_equal_shots(statevector: ModuleType, noisy: ModuleType) -> None:
    for backend in (statevector, noisy):
        one, same, other = [
            run_over_wire(backend.run, make_data(make_ghz(4)), shots=200, seed=seed)["pubs"]
            for seed in (1, 1, 2)
        ]
        assert one == same
        assert one != other


def test_gates_of_other_names_and_loops_are_run(statevector: ModuleType) -> None:
    circuit = QuantumCircuit(4, 4)
    circuit.append(QFTGate(4), range(4))
    circuit.append(QFTGate(4).inverse(), range(4))
    circuit.append(UnitaryGate([[0, 1], [1, 0]]), [0])
    circuit.mcx([0], 1)
    with circuit.for_loop(range(3)):
        circuit.x(3)
    circuit.iswap(1, 2)
    circuit.measure(range(4), range(4))
    assert count(statevector, circuit, shots=20) == {"1101": 20}


@pytest.mark.parametrize("method", ["automatic", "statevector", "matrix_product_state"])
def test_every_method_measures_the_same(statevector: ModuleType, method: str) -> None:
    circuit = QuantumCircuit(3)
    circuit.x([0, 1])
    circuit.ccx(0, 1, 2)
    circuit.ryy(0.0, 0, 1)
    circuit.measure_all()
    assert count(statevector, circuit, shots=9, method=method) == {"111": 9}


def test_what_a_method_cannot_run_is_refused(statevector: ModuleType) -> None:
    circuit = QuantumCircuit(1)
    circuit.t(0)
    circuit.measure_all()
    with pytest.raises(BackendFailure) as raised:
        count(statevector, circuit, method="stabilizer")
    assert raised.value.code == "GATE_UNSUPPORTED"


@pytest.mark.parametrize("method", ["dreams", ["statevector"], {"a": 1}, 5])
def test_a_method_that_there_is_not_is_refused(statevector: ModuleType, method: object) -> None:
    with pytest.raises(BackendFailure) as raised:
        count(statevector, make_ghz(2), method=method)
    assert raised.value.code == "INVALID_INPUT"


def anneal(**params: Any) -> dict[str, Any]:
    bqm = dimod.BinaryQuadraticModel({"a": 1}, {}, 0, "SPIN").to_serializable()
    data = {"format": "DIMOD_BQM", "bqm": bqm}
    return run_over_wire(load_backend("annealing").run, data, shots=1, **params)


@pytest.mark.parametrize(
    "params",
    [
        {"sampler": "dreams"},
        {"sampler": ["tabu"]},
        {"sampler": 5},
        {"sampler": "tabu", "num_restarts": 10**12},
        {"beta_range": [1, float("inf")]},
        {"beta_range": "wide"},
    ],
)
def test_a_sampler_that_there_is_not_is_refused_and_so_are_its_options(
    params: dict[str, Any],
) -> None:
    with pytest.raises(BackendFailure) as raised:
        anneal(**params)
    assert raised.value.code == "INVALID_INPUT"


def test_all_seeds_that_are_accepted_are_taken() -> None:
    for seed in (0, 2**32 - 1):
        assert anneal(seed=seed)["metadata"]["seed"] == seed


def test_a_state_that_does_not_fit_is_refused_before_it_is_made(statevector: ModuleType) -> None:
    for circuit, params in ((make_ghz(25), {}), (make_ghz(64), {"method": "matrix_product_state"})):
        with pytest.raises(BackendFailure) as raised:
            count(statevector, circuit, **params)
        assert raised.value.code == "TOO_MANY_QUBITS"


def test_bits_that_are_never_measured_are_zero(statevector: ModuleType, noisy: ModuleType) -> None:
    circuit = QuantumCircuit(1, 2)
    circuit.x(0)
    for backend in (statevector, noisy):
        assert count(backend, circuit, shots=5) == {"00": 5}


def test_expectation_values_are_exact(statevector: ModuleType) -> None:
    circuit = QuantumCircuit(2)
    circuit.h(0)
    circuit.cx(0, 1)
    data = {**make_data(circuit), "primitive": "estimator"}
    data["pubs"][0]["observables"] = {"ZZ": 1, "XX": 1, "ZI": 1}
    (pub,) = run_over_wire(statevector.run, data)["pubs"]
    assert pub["evs"] == pytest.approx(2)


def test_noise_is_that_of_the_device_or_of_a_calibration_that_came(noisy: ModuleType) -> None:
    circuit = QuantumCircuit(1)
    circuit.x(0)
    circuit.measure_all()
    of_device = count(noisy, circuit, shots=4_000, seed=1)
    assert 0 < of_device.get("0", 0) < 400
    perfect = {
        "qubits": [{"id": "0", "t1": 1.0, "t2": 1.0}],
        "gates": [
            {"name": "x", "qubits": ["0"], "duration": 0.0, "error": 0.0},
            {"name": "measure", "qubits": ["0"], "duration": 0.0, "error": 0.25},
        ],
    }
    worse = count(noisy, circuit, shots=4_000, seed=1, noise=perfect)
    assert 800 < worse["0"] < 1_200


@pytest.mark.parametrize(
    "noise",
    [5, {}, {"qubits": [], "gates": []}, {"qubits": [{"id": "0"}], "gates": [{"name": "x"}]}],
)
def test_a_broken_calibration_is_refused(noisy: ModuleType, noise: object) -> None:
    with pytest.raises(BackendFailure) as raised:
        count(noisy, make_ghz(2), noise=noise)
    assert raised.value.code == "INVALID_INPUT"


def test_a_calibration_without_the_gates_to_run_a_circuit_is_refused(noisy: ModuleType) -> None:
    noise = {"qubits": [{"id": "0", "t1": 1e-4, "t2": 1e-4}, {"id": "1"}], "gates": []}
    with pytest.raises(BackendFailure) as raised:
        count(noisy, make_ghz(2), noise=noise)
    assert raised.value.code == "GATE_UNSUPPORTED"


def test_a_hostile_nest_of_gates_is_refused_in_time(statevector: ModuleType) -> None:
    lines = ["OPENQASM 2.0;", "gate g0 q { U(0,0,0) q; }"]
    lines += [f"gate g{n} q {{ g{n - 1} q; g{n - 1} q; }}" for n in range(1, 50)]
    text = "\n".join([*lines, "qreg q[1]; creg c[1];", "g49 q[0]; measure q[0] -> c[0];"])
    with pytest.raises(BackendFailure) as raised:
        run_over_wire(statevector.run, make_data(text, format_name="OPEN_QASM_V2"), shots=1)
    assert raised.value.code == "CIRCUIT_TOO_LARGE"


def make_layers(width: int, depth: int) -> QuantumCircuit:
    circuit = QuantumCircuit(width)
    for layer in range(depth):
        for qubit in range(width):
            circuit.rx(0.1 * (layer + qubit + 1), qubit)
        for qubit in range(layer % 2, width - 1, 2):
            circuit.cx(qubit, qubit + 1)
    circuit.measure_all()
    return circuit


def test_a_dry_run_says_how_long_a_job_would_take(statevector: ModuleType) -> None:
    data = make_data(make_layers(16, 20))
    told = run_over_wire(statevector.run, data, shots=1000, dry_run=True)
    since = time.process_time()
    run_over_wire(statevector.run, data, shots=1000)
    took = time.process_time() - since
    assert told["valid"] is True
    # Roughly: a machine with other work takes ten times as long as an idle one.
    assert took / 30 < told["seconds"] < took * 30


def test_a_dry_run_counts_all_circuits_values_and_shots(statevector: ModuleType) -> None:
    def foresee(circuit: QuantumCircuit, **params: Any) -> float:
        data = make_data(*[circuit] * params.pop("count", 1))
        told = run_over_wire(statevector.run, data, **{"shots": 100, **params}, dry_run=True)
        seconds: float = told["seconds"]
        return seconds

    layers = make_layers(16, 10)
    once = foresee(layers)
    assert foresee(layers, count=3) == pytest.approx(3 * once, rel=0.05)
    assert foresee(make_layers(18, 10)) > 3 * once
    assert foresee(layers, shots=1_000_000) > once + 0.5
    # Without a state for each shot: gates of Clifford's group.
    assert foresee(make_ghz(24)) < once
    again = layers.copy()
    again.h(0)
    again.measure(0, 0)
    assert foresee(again) > 50 * once
    for method in ("stabilizer", "matrix_product_state"):
        data = make_data(make_ghz(3))
        told = run_over_wire(statevector.run, data, method=method, dry_run=True)
        assert told == {"valid": True, "warnings": []}


def test_circuits_of_published_sdks_are_among_what_it_says_it_reads(
    statevector: ModuleType,
) -> None:
    formats = statevector.describe()["configuration"]["supported_input_formats"]
    assert formats == ["QISKIT_QPY", "OPEN_QASM_V3", "OPEN_QASM_V2", "IONQ_CIRCUIT_V1"]
    data = {"format": "IONQ_CIRCUIT_V1", "gateset": "qis", "qubits": 1, "circuit": []}
    told = run_over_wire(statevector.run, data, shots=3, dry_run=True)
    assert told["valid"] is True
