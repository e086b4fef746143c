"""A backend of one function: what its function is given, what callers get, what is refused."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import pytest

from ..support.needs import need_packages

need_packages("qiskit", "qiskit_qasm3_import")

from qiskit import QuantumCircuit  # noqa: E402
from qiskit.circuit import Parameter  # noqa: E402
from qiskit.primitives import StatevectorEstimator  # noqa: E402

from platform_quantum import samples  # noqa: E402
from platform_quantum.backend import BackendFailure, Limits, gate_backend  # noqa: E402

from ..support.wire import make_data, make_ghz, run_over_wire  # noqa: E402

if TYPE_CHECKING:
    from platform_quantum.backend import Options

GATES = ("h", "x", "rz", "sx", "cx")
LIMITS = Limits(circuits=3, runs=10, total_shots=5_000, operations=1_000, observable_terms=10)


class Recorder:
    """Answers zeros, and notes what it was given."""

    def __init__(self, **more: Any) -> None:
        self.calls: list[tuple[list[QuantumCircuit], int, Options]] = []
        self.run, self.describe = gate_backend(
            self.execute,
            qubits=4,
            gates=GATES,
            limits=LIMITS,
            shots=(1, 2_000),
            options=("method",),
            method_qubits={"wide": 6},
            estimator=lambda options: StatevectorEstimator(seed=options.seed),
            **more,
        )

    def execute(
        self, circuits: list[QuantumCircuit], shots: int, options: Options
    ) -> list[dict[str, int]]:
        self.calls.append((circuits, shots, options))
        return [{"0" * circuit.num_clbits: shots} for circuit in circuits]

    def refuse(self, data: Any, **params: Any) -> BackendFailure:
        with pytest.raises(BackendFailure) as raised:
            run_over_wire(self.run, data, **params)
        assert self.calls == []
        return raised.value


@pytest.fixture
def backend() -> Recorder:
    return Recorder()


def sweep(circuit: QuantumCircuit, names: list[str], values: list[float]) -> dict[str, Any]:
    data = make_data(circuit)
    packed = samples.pack(struct.pack(f"<{len(values)}d", *values))
    shape = [len(values) // len(names)]
    data["pubs"][0]["parameters"] = {"names": names, "shape": shape, "values": packed}
    return data


def test_it_describes_itself_as_the_platform_needs_it(backend: Recorder) -> None:
    described = backend.describe()
    configuration = described["configuration"]
    assert described["type"] == "SIMULATOR"
    assert configuration["qubit_count"] == 4
    assert [gate["name"] for gate in configuration["gates"]] == list(GATES)
    assert configuration["supported_input_formats"][0] == "QISKIT_QPY"
    assert configuration["qpy"]["min"] == 13
    assert configuration["shots_range"] == {"min": 1, "max": 2_000}
    assert configuration["max_pubs_per_job"] == 3


def test_its_function_gets_all_circuits_of_a_job_at_once(backend: Recorder) -> None:
    result = run_over_wire(backend.run, make_data(make_ghz(2), make_ghz(3)), shots=7, seed=5)
    ((circuits, shots, options),) = backend.calls
    assert [circuit.num_qubits for circuit in circuits] == [2, 3]
    assert (shots, options.seed, options.is_seeded) == (7, 5, True)
    assert result["metadata"]["seed"] == 5
    assert [pub["shots"] for pub in result["pubs"]] == [7, 7]


def test_without_a_seed_the_result_says_which_was_drawn(backend: Recorder) -> None:
    seeds = {
        run_over_wire(backend.run, make_data(make_ghz(2)), shots=1)["metadata"]["seed"]
        for _ in range(5)
    }
    assert len(seeds) == 5


def test_circuits_may_have_shots_of_their_own(backend: Recorder) -> None:
    data = make_data(make_ghz(2), make_ghz(3), make_ghz(4))
    data["pubs"][1]["shots"] = 3
    result = run_over_wire(backend.run, data, shots=7)
    assert [(len(circuits), shots) for circuits, shots, _ in backend.calls] == [(2, 7), (1, 3)]
    assert [pub["shots"] for pub in result["pubs"]] == [7, 3, 7]
    assert [pub["registers"][0]["bits"] for pub in result["pubs"]] == [2, 3, 4]


def test_other_gates_are_unrolled_into_those_it_has(backend: Recorder) -> None:
    circuit = QuantumCircuit(3)
    circuit.ccx(0, 1, 2)
    circuit.measure_all()
    run_over_wire(backend.run, make_data(circuit), shots=1)
    (unrolled,) = backend.calls[0][0]
    assert set(unrolled.count_ops()) <= {*GATES, "measure", "barrier"}
    assert unrolled.num_qubits == 3


def test_a_sweep_is_run_with_each_set_of_parameters(backend: Recorder) -> None:
    circuit = QuantumCircuit(1)
    circuit.rz(Parameter("b") + 2 * Parameter("a"), 0)
    circuit.measure_all()
    result = run_over_wire(backend.run, sweep(circuit, ["b", "a"], [1, 10, 2, 20]), shots=5)
    angles = [one.data[0].operation.params[0] for one in backend.calls[0][0]]
    assert [float(angle) for angle in angles] == [21.0, 42.0]
    assert result["pubs"][0]["registers"][0]["shape"] == [2]


def test_expectation_values_come_in_the_shape_of_their_observables(backend: Recorder) -> None:
    circuit = QuantumCircuit(2)
    circuit.h(0)
    circuit.cx(0, 1)
    data = {**make_data(circuit), "primitive": "estimator"}
    data["pubs"][0]["observables"] = [{"ZZ": 1, "XX": 1, "ZI": 1}, {"YY": 1}]
    (pub,) = run_over_wire(backend.run, data)["pubs"]
    assert pub["evs"] == pytest.approx([2, -1])
    assert len(pub["stds"]) == 2


def test_parameters_of_expectation_values_are_found_by_name(backend: Recorder) -> None:
    circuit = QuantumCircuit(1)
    circuit.rx(Parameter("b"), 0)
    circuit.ry(Parameter("a"), 0)
    data = {**sweep(circuit, ["b", "a"], [3.141592653589793, 0, 0, 0]), "primitive": "estimator"}
    data["pubs"][0]["observables"] = {"Z": 1}
    (pub,) = run_over_wire(backend.run, data)["pubs"]
    assert pub["evs"] == pytest.approx([-1, 1])


def test_a_rehearsal_checks_everything_and_runs_nothing(backend: Recorder) -> None:
    data = make_data(make_ghz(2))
    assert run_over_wire(backend.run, data, dry_run=True) == {"valid": True, "warnings": []}
    assert backend.calls == []
    assert backend.refuse(make_data(make_ghz(5)), dry_run=True).code == "TOO_MANY_QUBITS"


def test_a_method_may_have_more_qubits(backend: Recorder) -> None:
    run_over_wire(backend.run, make_data(make_ghz(6)), method="wide")
    assert len(backend.calls) == 1


@pytest.mark.parametrize(
    ("circuits", "params", "code"),
    [
        ([make_ghz(5)], {}, "TOO_MANY_QUBITS"),
        ([make_ghz(2)] * 4, {}, "TOO_MANY_CIRCUITS"),
        ([make_ghz(2)], {"shots": 0}, "SHOTS_OUT_OF_RANGE"),
        ([make_ghz(2)], {"shots": 2_001}, "SHOTS_OUT_OF_RANGE"),
        ([make_ghz(2)], {"shots": True}, "SHOTS_OUT_OF_RANGE"),
        ([make_ghz(2)], {"shots": "9" * 10_000}, "SHOTS_OUT_OF_RANGE"),
        ([make_ghz(2)] * 3, {"shots": 1_900}, "SHOTS_OUT_OF_RANGE"),
        ([make_ghz(2)], {"seed": -1}, "INVALID_INPUT"),
        ([make_ghz(2)], {"seed": 1.5}, "INVALID_INPUT"),
        ([make_ghz(2)], {"seed": 2**64}, "INVALID_INPUT"),
        ([make_ghz(2)], {"noise": {}}, "INVALID_INPUT"),
        ([make_ghz(2)], {"precision": 0}, "INVALID_INPUT"),
        ([], {}, "INVALID_INPUT"),
    ],
)
def test_what_is_out_of_range_has_a_code(
    backend: Recorder, circuits: list[QuantumCircuit], params: dict[str, Any], code: str
) -> None:
    failure = backend.refuse(make_data(*circuits), **params)
    assert failure.code == code
    assert len(failure.detail) < 500


@pytest.mark.parametrize(
    "pubs", [None, {}, [None], ["x"], [{}], [{"circuit": 5}], [{"circuit": None, "shots": 1}]]
)
def test_what_has_not_the_form_of_a_job_has_a_code(backend: Recorder, pubs: Any) -> None:
    data = {"format": "QISKIT_QPY", "pubs": pubs}
    assert backend.refuse(data).code == "INVALID_INPUT"


@pytest.mark.parametrize(
    "parameters",
    [
        5,
        {"names": "a", "shape": [1], "values": ""},
        {"names": ["a"], "shape": [-1], "values": ""},
        {"names": ["a"], "shape": [10**9, 10**9], "values": ""},
        {"names": ["a"], "shape": [1], "values": "AAAA"},
        {"names": ["a"], "shape": [1], "values": None},
        {"names": ["a"], "shape": [1], "values": samples.pack(struct.pack("<d", float("nan")))},
    ],
)
def test_broken_parameters_have_a_code(backend: Recorder, parameters: Any) -> None:
    circuit = QuantumCircuit(1)
    circuit.rz(Parameter("a"), 0)
    circuit.measure_all()
    data = make_data(circuit)
    data["pubs"][0]["parameters"] = parameters
    assert backend.refuse(data).code == "INVALID_INPUT"


@pytest.mark.parametrize("primitive", ["sampler", "estimator"])
@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize(
    ("compute", "value"),
    [
        (lambda a: 1 / a, 0.0),
        (lambda a: 1 / a, 1e-320),
        (lambda a: a.exp(), 1e3),
        (lambda a: a.log(), 0.0),
        (lambda a: a.log(), -1.0),
        (lambda a: 1e300 * a * a, 1e300),
    ],
)
def test_what_is_infinite_only_with_its_values_is_refused(
    compute: Any, value: float, inside: bool, dry_run: bool, primitive: str
) -> None:
    backend = Recorder(instructions=("measure", "barrier", "if_else"))
    circuit = QuantumCircuit(1, 1)
    angle = Parameter("a")
    if inside:
        with circuit.if_test((circuit.clbits[0], 0)):
            circuit.rz(compute(angle), 0)
    else:
        circuit.rz(compute(angle), 0)
    circuit.measure(0, 0)
    data = {**sweep(circuit, ["a"], [0.5, value]), "primitive": primitive}
    data["pubs"][0]["observables"] = {"Z": 1}
    failure = backend.refuse(data, dry_run=dry_run)
    assert (failure.code, "set 1 " in failure.detail) == ("CIRCUIT_INVALID", True)


def test_parameters_without_values_and_values_without_parameters_are_refused(
    backend: Recorder,
) -> None:
    circuit = QuantumCircuit(1)
    circuit.rz(Parameter("a"), 0)
    circuit.measure_all()
    assert backend.refuse(make_data(circuit)).code == "CIRCUIT_INVALID"
    assert backend.refuse(sweep(make_ghz(2), ["a"], [1.0])).code == "CIRCUIT_INVALID"


def test_too_many_sets_of_parameters_are_refused(backend: Recorder) -> None:
    circuit = QuantumCircuit(1)
    circuit.rz(Parameter("a"), 0)
    circuit.measure_all()
    assert backend.refuse(sweep(circuit, ["a"], [0.0] * 11)).code == "TOO_MANY_CIRCUITS"


def test_a_circuit_that_measures_nothing_is_refused(backend: Recorder) -> None:
    circuit = QuantumCircuit(1)
    circuit.x(0)
    assert backend.refuse(make_data(circuit)).code == "CIRCUIT_INVALID"


def test_a_circuit_that_is_too_large_is_refused(backend: Recorder) -> None:
    circuit = QuantumCircuit(1, 1)
    for _ in range(1_001):
        circuit.x(0)
    assert backend.refuse(make_data(circuit)).code == "CIRCUIT_TOO_LARGE"


@pytest.mark.parametrize(
    "observables", [None, 5, "ZZZ", {"QQ": 1}, [{}], {"ZZ": "x"}, [[[[[[[[[["ZZ"]]]]]]]]]]]
)
def test_broken_observables_have_a_code(backend: Recorder, observables: Any) -> None:
    data = {**make_data(QuantumCircuit(2)), "primitive": "estimator"}
    data["pubs"][0]["observables"] = observables
    assert backend.refuse(data).code == "INVALID_INPUT"


def test_too_many_observables_are_refused(backend: Recorder) -> None:
    data = {**make_data(QuantumCircuit(2)), "primitive": "estimator"}
    data["pubs"][0]["observables"] = ["ZZ"] * 11
    assert backend.refuse(data).code == "INVALID_INPUT"


def test_a_primitive_that_it_has_not_is_refused() -> None:
    run, _ = gate_backend(lambda *_: [], qubits=2, gates=GATES)
    for primitive in ("estimator", "dreamer", 5):
        data = {**make_data(make_ghz(2)), "primitive": primitive}
        with pytest.raises(BackendFailure) as raised:
            run(data, {"shots": 1})
        assert raised.value.code == "INVALID_INPUT"


def test_a_description_that_the_sdk_cannot_read_fails_at_import() -> None:
    with pytest.raises(KeyError):
        gate_backend(lambda *_: [], qubits=2, gates=GATES, coupling=[(0, 7)])
