"""How large circuits are once unrolled: found out in time that the limit bounds."""

from __future__ import annotations

import math
import time

import pytest

from ..support.needs import need_packages

need_packages("qiskit", "qiskit_qasm3_import")

from qiskit import QuantumCircuit, qasm2, qasm3  # noqa: E402
from qiskit.circuit import Gate  # noqa: E402
from qiskit.circuit.library import DiagonalGate, MCXGate, QFTGate  # noqa: E402

from platform_quantum.backend import BackendFailure  # noqa: E402
from platform_quantum.backend.unroll import Size  # noqa: E402

KNOWN = ("h", "x", "cx", "u", "for_loop", "if_else", "while_loop")
LIMIT = 1_000_000


def count(circuit: QuantumCircuit, limit: int = LIMIT) -> int:
    return Size(KNOWN, limit).count(circuit)


def refuse(circuit: QuantumCircuit, limit: int = LIMIT) -> str:
    with pytest.raises(BackendFailure) as raised:
        count(circuit, limit)
    return raised.value.code


def double(levels: int, parameters: bool = False) -> str:
    """Gates that are each two of the one before: 2^levels operations in as many lines."""
    head, argument = ("(a)", "(a/2)") if parameters else ("", "")
    lines = ["OPENQASM 2.0;", f"gate g0{head} q {{ U(0,0,0) q; }}"]
    lines += [
        f"gate g{level}{head} q {{ g{level - 1}{argument} q; g{level - 1}{argument} q; }}"
        for level in range(1, levels + 1)
    ]
    value = "(1)" if parameters else ""
    return "\n".join([*lines, "qreg q[1];", f"g{levels}{value} q[0];"])


def test_gates_of_the_backend_count_once() -> None:
    circuit = QuantumCircuit(2, 2)
    circuit.h(0)
    circuit.cx(0, 1)
    circuit.measure([0, 1], [0, 1])
    size = Size(KNOWN, 10)
    assert size.count(circuit) == 4
    assert size.is_basic


def test_standard_gates_that_a_device_has_not_are_left_to_the_transpiler() -> None:
    circuit = QuantumCircuit(2)
    circuit.h(0)
    circuit.cx(0, 1)
    circuit.swap(0, 1)
    circuit.sx(0)
    size = Size(("rz", "r", "cz"), 4)
    assert (size.count(circuit), size.is_basic) == (4, False)


def test_a_gate_that_has_to_be_unrolled_is_noticed() -> None:
    circuit = QuantumCircuit(5)
    circuit.append(QFTGate(5), range(5))
    size = Size(KNOWN, LIMIT)
    assert 10 < size.count(circuit) < 100
    assert not size.is_basic


@pytest.mark.parametrize("parameters", [False, True])
def test_doubling_definitions_are_counted_without_being_unrolled(parameters: bool) -> None:
    begin = time.perf_counter()
    assert count(qasm2.loads(double(10, parameters))) == 1024
    assert refuse(qasm2.loads(double(60, parameters))) == "CIRCUIT_TOO_LARGE"
    assert time.perf_counter() - begin < 2


def test_definitions_made_in_python_are_counted_without_being_unrolled() -> None:
    gate = Gate("g", 1, [])
    gate.definition = QuantumCircuit(1)
    gate.definition.x(0)
    for level in range(60):
        outer = Gate("same", 1, [level])
        outer.definition = QuantumCircuit(1)
        outer.definition.append(gate, [0])
        outer.definition.append(gate, [0])
        gate = outer
    circuit = QuantumCircuit(1)
    circuit.append(gate, [0])
    assert refuse(circuit) == "CIRCUIT_TOO_LARGE"


def test_two_gates_of_one_name_are_counted_apart() -> None:
    circuit = QuantumCircuit(1)
    for times in (1, 500):
        gate = Gate("same", 1, [])
        gate.definition = QuantumCircuit(1)
        for _ in range(times):
            gate.definition.x(0)
        circuit.append(gate, [0])
    assert count(circuit) == 501
    assert refuse(circuit, 500) == "CIRCUIT_TOO_LARGE"


@pytest.mark.parametrize("rounds", ["[0:999999999]", "[0:4611686018427387904]"])
def test_a_loop_counts_each_of_its_rounds(rounds: str) -> None:
    circuit = QuantumCircuit(1)
    first, last = (int(text) for text in rounds[1:-1].split(":"))
    with circuit.for_loop(range(first, last)):
        circuit.x(0)
    assert refuse(circuit) == "CIRCUIT_TOO_LARGE"


def test_loops_in_loops_multiply() -> None:
    circuit = QuantumCircuit(1)
    with circuit.for_loop(range(100)), circuit.for_loop(range(100)):
        circuit.x(0)
    assert 10_000 <= count(circuit) <= 10_201


def test_rounds_of_an_empty_loop_count() -> None:
    circuit = QuantumCircuit(1)
    with circuit.for_loop(range(2_000_000)):
        pass
    assert refuse(circuit) == "CIRCUIT_TOO_LARGE"


def test_all_loops_together_have_a_limit_of_their_own() -> None:
    circuit = QuantumCircuit(1)
    for _ in range(50):
        circuit.x(0)
    for rounds in (6, 5):
        with circuit.for_loop(range(rounds)):
            circuit.x(0)
    assert Size(KNOWN, 1_000, 11).count(circuit) == 63
    with pytest.raises(BackendFailure, match="loops of the circuit have more than 10") as raised:
        Size(KNOWN, 1_000, 10).count(circuit)
    assert raised.value.code == "CIRCUIT_TOO_LARGE"


def test_a_loop_of_openqasm_3_counts() -> None:
    text = "OPENQASM 3.0; include 'stdgates.inc'; qubit q; for uint i in [0:999999999] { x q; }"
    assert refuse(qasm3.loads(text)) == "CIRCUIT_TOO_LARGE"


def test_control_flow_that_the_backend_has_not_is_refused() -> None:
    circuit = QuantumCircuit(1, 1)
    with circuit.if_test((circuit.clbits[0], 1)):
        circuit.x(0)
    with pytest.raises(BackendFailure) as raised:
        Size(("x",), LIMIT).count(circuit)
    assert raised.value.code == "GATE_UNSUPPORTED"


def test_a_gate_without_a_definition_is_refused() -> None:
    circuit = QuantumCircuit(1)
    circuit.append(Gate("opaque", 1, []), [0])
    assert refuse(circuit) == "GATE_UNSUPPORTED"


def test_a_gate_that_is_called_as_a_standard_one_is_looked_into() -> None:
    circuit = QuantumCircuit(1)
    gate = Gate("rx", 1, [])
    gate.definition = QuantumCircuit(1)
    for _ in range(50):
        gate.definition.x(0)
    circuit.append(gate, [0])
    assert count(circuit) == 50


def test_a_wide_gate_is_looked_into() -> None:
    circuit = QuantumCircuit(12)
    circuit.append(MCXGate(11), range(12))
    assert count(circuit) > 20


def test_definitions_that_are_nested_too_deeply_are_refused() -> None:
    gate = Gate("g", 1, [])
    gate.definition = QuantumCircuit(1)
    for _ in range(5_000):
        outer = Gate("g", 1, [])
        outer.definition = QuantumCircuit(1)
        outer.definition.append(gate, [0])
        gate = outer
    circuit = QuantumCircuit(1)
    circuit.append(gate, [0])
    assert refuse(circuit) == "CIRCUIT_TOO_LARGE"


def test_numbers_of_matrices_and_phases_are_finite() -> None:
    matrix = QuantumCircuit(1)
    matrix.append(DiagonalGate([1, 1]), [0])
    matrix.data[0].operation.params = [1.0, complex("nan")]
    phase = QuantumCircuit(1)
    phase.h(0)
    phase.global_phase = math.inf
    assert refuse(matrix) == refuse(phase) == "CIRCUIT_INVALID"


@pytest.mark.parametrize("angle", ["9^9^9^9^9", "1e999", "-1e999"])
def test_an_angle_that_is_not_finite_is_refused(angle: str) -> None:
    head = 'OPENQASM 2.0; include "qelib1.inc"; gate g(a) q { rx(a) q; } qreg q[1];'
    for gate in ("rx", "g"):
        assert refuse(qasm2.loads(f"{head} {gate}({angle}) q[0];")) == "CIRCUIT_INVALID"
