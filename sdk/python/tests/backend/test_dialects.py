"""What published SDKs send, and what they get: bit order above all."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from ..support.needs import need_packages

need_packages("qiskit", "qiskit_qasm3_import")

from qiskit import QuantumCircuit  # noqa: E402
from qiskit.quantum_info import Statevector  # noqa: E402

from platform_quantum.backend import BackendFailure, gate_backend  # noqa: E402

from ..support.wire import make_data  # noqa: E402

FLIP_FIRST = 'OPENQASM 2.0; include "qelib1.inc"; qreg q[3]; creg c[3]; x q[0]; measure q -> c;'


def execute(circuits: list[QuantumCircuit], shots: int, options: Any) -> list[dict[str, int]]:
    outputs = []
    for circuit in circuits:
        state = Statevector(circuit.remove_final_measurements(inplace=False))
        state.seed(options.seed)
        outputs.append(state.sample_counts(shots))
    return outputs


RUN, _ = gate_backend(
    execute,
    qubits=6,
    gates=["h", "x", "y", "z", "rx", "ry", "rz", "p", "cx", "u"],
    has_states=True,
)


def run(data: dict[str, Any], **params: Any) -> Any:
    return json.loads(json.dumps(RUN(json.loads(json.dumps(data)), params)))


def refuse(data: dict[str, Any], **params: Any) -> str:
    with pytest.raises(BackendFailure) as raised:
        run(data, **params)
    return raised.value.code


def ionq(*gates: dict[str, Any], qubits: int = 3, **more: Any) -> dict[str, Any]:
    return {
        "format": "IONQ_CIRCUIT_V1",
        "gateset": "qis",
        "qubits": qubits,
        "circuit": list(gates),
        **more,
    }


def qasm(**more: Any) -> dict[str, Any]:
    return {"format": "OPEN_QASM_V2", "input": FLIP_FIRST, **more}


def test_the_own_form_may_ask_for_counts() -> None:
    circuit = QuantumCircuit(3, 3)
    circuit.x(0)
    circuit.measure(range(3), range(3))
    (pub,) = run({**make_data(circuit), "shape": "counts"}, shots=4)["pubs"]
    assert pub["counts"] == {"001": 4}
    assert pub["memory"] == ["001"] * 4


def test_a_text_gives_counts_and_a_list_gives_a_list() -> None:
    found = run(qasm(), shots=5, backend_settings={})
    assert found == {"counts": {"001": 5}, "memory": ["001"] * 5}
    several = {"format": "OPEN_QASM_V2", "qasm": [FLIP_FIRST, FLIP_FIRST]}
    assert run(several, shots=5, backend_settings={}) == [found, found]


def test_qsim_has_qubit_0_first() -> None:
    assert run(qasm(), shots=5, mode="sample") == {"counts": {"100": 5}}
    state = run(qasm(), shots=5, mode="statevector")["statevector"]
    assert state[int("100", 2)] == [1, 0]
    assert sum(real * real + imaginary * imaginary for real, imaginary in state) == 1
    found = run(qasm(), shots=5, mode="amplitudes", bitstrings=["100", "001"])
    assert found == {
        "amplitudes": {"100": [1, 0], "001": [0, 0]},
        "metadata": {"num_qubits": 3},
    }


def test_ionq_has_qubit_0_lowest_where_the_measurements_are_mapped() -> None:
    data = ionq({"gate": "x", "targets": [0]})
    assert run(data, shots=5, meas_map="[0, 1, 2]", qubits="3") == {"histogram": {"1": 1.0}}


def test_ionq_is_turned_for_clients_that_turn_it_back() -> None:
    data = ionq({"gate": "x", "targets": [0]})
    assert run(data, shots=5, qubits="3") == {"histogram": {"4": 1.0}}


@pytest.mark.parametrize(
    "gates",
    [
        [{"gate": "cnot", "control": 0, "target": 1}],
        [{"gate": "x", "controls": [0], "targets": [1]}],
        [{"gate": "x", "controls": [0, 0 + 2], "targets": [1]}],
        [{"gate": "rx", "controls": [0], "targets": [1], "rotation": math.pi}],
        [{"gate": "v", "targets": [1]}, {"gate": "v", "targets": [1]}],
        [{"gate": "xx", "targets": [1, 2], "rotation": math.pi}, {"gate": "x", "target": 2}],
        [{"gate": "h", "target": 1}, {"gate": "z", "target": 1}, {"gate": "h", "target": 1}],
        [
            {"gate": "h", "target": 1},
            {"gate": "z", "controls": [0], "target": 1, "rotation": math.pi},
            {"gate": "h", "target": 1},
        ],
        [
            {"gate": "h", "target": 1},
            {"gate": "s", "target": 1},
            {"gate": "t", "target": 1},
            {"gate": "t", "target": 1},
            {"gate": "h", "target": 1},
        ],
        [{"gate": "swap", "targets": [1, 2]}, {"gate": "x", "target": 2}],
    ],
)
def test_the_gates_of_ionq_do_what_they_are_called(gates: list[dict[str, Any]]) -> None:
    start = [{"gate": "x", "targets": [0]}, {"gate": "x", "targets": [2]}]
    found = run(ionq(*start, *gates), shots=5, meas_map="[0, 1, 2]")
    assert found == {"histogram": {"7": 1.0}}


@pytest.mark.parametrize(
    ("data", "params", "code"),
    [
        (ionq(qubits=0), {}, "CIRCUIT_INVALID"),
        (ionq(qubits=10**9), {}, "CIRCUIT_INVALID"),
        (ionq(qubits=7), {}, "TOO_MANY_QUBITS"),
        (ionq(gateset="native"), {}, "GATE_UNSUPPORTED"),
        (ionq({"gate": "teleport", "target": 0}), {}, "GATE_UNSUPPORTED"),
        (ionq({"gate": "x"}), {}, "CIRCUIT_INVALID"),
        (ionq({"gate": "x", "target": 3}), {}, "CIRCUIT_INVALID"),
        (ionq({"gate": "x", "target": True}), {}, "CIRCUIT_INVALID"),
        (ionq({"gate": "rx", "target": 0, "rotation": "x"}), {}, "CIRCUIT_INVALID"),
        (ionq({"gate": "x", "controls": [1, 1], "target": 0}), {}, "CIRCUIT_INVALID"),
        ({**ionq(), "circuit": [5]}, {}, "CIRCUIT_INVALID"),
        ({**ionq(), "circuit": [{"gate": "x", "target": 0}] * 200_001}, {}, "CIRCUIT_TOO_LARGE"),
        (qasm(), {"mode": "dream"}, "INVALID_INPUT"),
        (qasm(), {"mode": "amplitudes"}, "INVALID_INPUT"),
        (qasm(), {"mode": "amplitudes", "bitstrings": ["2"]}, "INVALID_INPUT"),
        ({**qasm(), "input": 5}, {}, "INVALID_INPUT"),
        ({"format": "OPEN_QASM_V2", "qasm": []}, {}, "INVALID_INPUT"),
        ({"format": "OPEN_QASM_V2"}, {}, "INVALID_INPUT"),
        (
            {**qasm(), "input": FLIP_FIRST + "x q[0];"},
            {"mode": "statevector"},
            "CIRCUIT_INVALID",
        ),
    ],
)
def test_what_is_wrong_has_a_code(data: dict[str, Any], params: dict[str, Any], code: str) -> None:
    assert refuse(data, shots=1, **params) == code


def test_a_backend_without_states_tells_none() -> None:
    plain, _ = gate_backend(execute, qubits=3, gates=["x"])
    with pytest.raises(BackendFailure) as raised:
        plain(qasm(), {"shots": 1, "mode": "statevector"})
    assert raised.value.code == "INVALID_INPUT"
