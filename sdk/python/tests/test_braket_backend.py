"""sim.braket: programs of Braket, and circuits in the own form."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from .support.needs import need_packages

need_packages("qiskit", "qiskit_qasm3_import", "braket.default_simulator")

import numpy as np  # noqa: E402
from qiskit import QuantumCircuit  # noqa: E402
from qiskit.circuit.library import get_standard_gate_name_mapping  # noqa: E402
from qiskit.quantum_info import Statevector  # noqa: E402

from platform_quantum.backend import BackendFailure  # noqa: E402
from platform_quantum.backend.braket_gates import TO_BRAKET  # noqa: E402
from platform_quantum.models import JobInfo  # noqa: E402
from platform_quantum.qiskit.result import build_result  # noqa: E402

from .support.descriptions import describe_job  # noqa: E402
from .support.running_server import load_backend  # noqa: E402
from .support.wire import make_data, make_ghz, run_over_wire  # noqa: E402

BACKEND = load_backend("braket")
FORMAT = "BRAKET_OPEN_QASM_V3"
BELL = "OPENQASM 3.0;\nqubit[2] q;\nh q[0];\ncnot q[0], q[1];\n"
INFO = JobInfo.from_dict(describe_job("COMPLETED"))


def run(source: Any, **params: Any) -> dict[str, Any]:
    data = source if isinstance(source, dict) else {"input": source}
    return run_over_wire(BACKEND.run, {"format": FORMAT, **data}, **params)


def refuse(source: Any, **params: Any) -> str:
    with pytest.raises(BackendFailure) as raised:
        run(source, **params)
    return raised.value.code


def read_shots(result: dict[str, Any]) -> list[str]:
    return ["".join(shot) for shot in result["measurements"]]


def ask(*kinds: str, source: str = BELL, **params: Any) -> list[Any]:
    lines = "".join(f"#pragma braket result {kind}\n" for kind in kinds)
    return [one["value"] for one in run(source + lines, **params)["resultTypes"]]


def test_a_program_is_sampled_with_qubit_0_first() -> None:
    found = run("OPENQASM 3.0;\nqubit[3] q;\nx q[0];\ni q[1];\ni q[2];\n", shots=4)
    assert read_shots(found) == ["100"] * 4
    assert found["measuredQubits"] == [0, 1, 2]
    assert found["taskMetadata"]["shots"] == 4
    assert found["braketSchemaHeader"]["name"] == "braket.task_result.gate_model_task_result"


def test_equal_seeds_give_equal_shots_and_others_do_not() -> None:
    for source in (BELL, BELL + "#pragma braket noise bit_flip(0.1) q[0]\n"):
        one, same, other = [read_shots(run(source, shots=60, seed=seed)) for seed in (1, 1, 2)]
        assert one == same
        assert one != other
        assert read_shots(run(source, shots=60)) != read_shots(run(source, shots=60))


def test_without_shots_the_values_are_exact() -> None:
    state, amplitude, density = ask("state_vector", 'amplitude "00", "01"', "density_matrix")
    assert state == [[pytest.approx(0.5**0.5), 0], [0, 0], [0, 0], [pytest.approx(0.5**0.5), 0]]
    assert amplitude == {"00": [pytest.approx(0.5**0.5), 0], "01": [0, 0]}
    assert density[0][3] == [pytest.approx(0.5), 0]
    assert ask("probability q[0]", "expectation z(q[0]) @ z(q[1])") == [
        pytest.approx([0.5, 0.5]),
        pytest.approx(1),
    ]


def test_of_what_was_sampled_the_values_come_from_the_shots() -> None:
    turned = "OPENQASM 3.0;\nqubit[3] q;\nx q[0];\nry(0.7) q[1];\nh q[2];\n"
    hermitian = "hermitian([[1, 2im], [-2im, 3]])"
    (exactly,), (roughly,) = [
        ask("probability q[1], q[0]", source=turned, **params)
        for params in ({}, {"shots": 20_000, "seed": 1})
    ]
    assert roughly == pytest.approx(exactly, abs=0.02)
    kinds = (
        f"expectation z(q[1]) @ {hermitian} q[0]",
        "variance x(q[2])",
    )
    exact = ask(*kinds, source=turned)
    sampled = ask(*kinds, source=turned, shots=20_000, seed=1)
    assert sampled[0] == pytest.approx(exact[0], abs=0.1)
    assert sampled[1] == pytest.approx(exact[1], abs=0.02)
    (each,) = ask("expectation z all", source=turned, shots=500)
    assert each[0] == -1
    (shots,) = ask("sample z(q[0])", source=turned, shots=5)
    assert shots == [-1] * 5


def test_inputs_are_numbers_that_come_beside_the_program() -> None:
    source = "OPENQASM 3.0;\ninput float theta;\nqubit[1] q;\nrx(theta) q[0];\n"
    given = {"source": source, "inputs": {"theta": 3.141592653589793}}
    assert read_shots(run(given, shots=3)) == ["1"] * 3
    assert refuse({**given, "inputs": {"theta": "pi"}}, shots=1) == "INVALID_INPUT"
    assert refuse({"source": source}, shots=1) == "CIRCUIT_INVALID"


def test_many_programs_are_one_job_with_shots_of_their_own() -> None:
    flip = "OPENQASM 3.0;\nqubit[1] q;\nx q[0];\n"
    programs = [{"source": BELL}, {"source": flip, "shots": 2}]
    first, second = run({"programs": programs}, shots=7)["results"]
    assert len(first["measurements"]) == 7
    assert read_shots(second) == ["1", "1"]


def test_noise_makes_a_density_matrix_unless_a_method_is_named() -> None:
    source = "OPENQASM 3.0;\nqubit[1] q;\ni q[0];\n#pragma braket noise bit_flip(0.25) q[0]\n"
    ones = read_shots(run(source, shots=4_000, seed=1)).count("1")
    assert 800 < ones < 1_200
    assert refuse(source, shots=1, method="statevector") == "CIRCUIT_INVALID"


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("nonsense", "CIRCUIT_INVALID"),
        (5, "INVALID_INPUT"),
        ({"programs": []}, "INVALID_INPUT"),
        # What a published SDK makes of several circuits, whose results would be a program set.
        ({"qasm": [BELL, BELL]}, "INVALID_INPUT"),
        ({"programs": [BELL] * 101}, "TOO_MANY_CIRCUITS"),
        ({"programs": [{"source": BELL, "shots": -1}]}, "SHOTS_OUT_OF_RANGE"),
        ('OPENQASM 3.0; include "/etc/passwd";', "CIRCUIT_INVALID"),
        ("/etc/passwd.qasm", "CIRCUIT_INVALID"),
        ("OPENQASM 3.0; qubit[1000000000] q;", "TOO_MANY_QUBITS"),
        (
            f"OPENQASM 3.0; qubit[23] q; {''.join(f'h q[{n}];' for n in range(23))}",
            "TOO_MANY_QUBITS",
        ),
        (f"OPENQASM 3.0; qubit q; rx({'(' * 300}1{')' * 300}) q;", "CIRCUIT_TOO_LARGE"),
        ("// " + "x" * 2_000_000, "CIRCUIT_TOO_LARGE"),
        (BELL + "teleport q[0];", "CIRCUIT_INVALID"),
    ],
)
def test_what_is_wrong_has_a_code(source: Any, code: str) -> None:
    assert refuse(source, shots=1) == code


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"shots": 100_001}, "SHOTS_OUT_OF_RANGE"),
        ({"shots": 1, "colour": "red"}, "INVALID_INPUT"),
        ({"shots": 1, "method": "dreams"}, "INVALID_INPUT"),
        ({"shots": 1, "method": ["statevector"]}, "INVALID_INPUT"),
        ({"shots": 1, "seed": -1}, "INVALID_INPUT"),
        ({}, "CIRCUIT_INVALID"),  # nothing is asked for
    ],
)
def test_an_option_that_is_wrong_has_a_code(params: dict[str, Any], code: str) -> None:
    assert refuse(BELL, **params) == code


def test_no_file_of_this_machine_is_opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    # As a client would: with a name that is there, in the folder of the program.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gates.qasm").write_text("OPENQASM 3.0;\nqubit[1] q;\nx q[0];\n", "utf-8")
    for source in ("gates.qasm", 'OPENQASM 3.0;\ninclude "gates.qasm";\n'):
        assert refuse(source, shots=1) == "CIRCUIT_INVALID"


def test_loops_are_unrolled_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = "OPENQASM 3.0;\nqubit[1] q;\nfor uint i in [0:{last}] {{ x q[0]; }}\n"
    assert read_shots(run(loop.format(last=2), shots=1)) == ["1"]
    few = BACKEND.Limits(operations=50)
    monkeypatch.setattr(BACKEND, "LIMITS", few)
    assert refuse(loop.format(last=60), shots=1) == "CIRCUIT_TOO_LARGE"


@pytest.mark.parametrize(
    "loops",
    [
        "for int i in [0:1000000000] { }",
        "for int i in [0:9223372036854775807] { }",
        "for int i in [0:9999] { for int j in [0:9999] { } }",
    ],
)
def test_rounds_of_loops_that_do_nothing_are_counted(loops: str) -> None:
    begin = time.process_time()
    assert refuse(f"OPENQASM 3.0;\nqubit[1] q;\n{loops}\nx q[0];\n", shots=1) == "CIRCUIT_TOO_LARGE"
    assert time.process_time() - begin < 30


@pytest.mark.usefixtures("alone")
def test_a_number_that_takes_too_long_to_be_computed_ends_the_reading(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(BACKEND, "LIMITS", BACKEND.Limits(reading_seconds=1))
    source = "OPENQASM 3.0;\nqubit[1] q;\nrz(9 ** 9 ** 9) q[0];\n"
    assert refuse(source, shots=1) == "CIRCUIT_TOO_LARGE"


def test_large_results_are_refused_before_they_are_computed() -> None:
    wide = "".join(f"h q[{n}];\n" for n in range(9))
    source = f"OPENQASM 3.0;\nqubit[9] q;\n{wide}#pragma braket result density_matrix\n"
    assert refuse(source) == "TOO_MANY_QUBITS"


def test_a_dry_run_reads_what_can_be_read_and_simulates_nothing() -> None:
    assert run(BELL, shots=5, dry_run=True) == {"valid": True, "warnings": []}
    assert refuse(BELL, shots=-5, dry_run=True) == "SHOTS_OUT_OF_RANGE"


def count(circuit: QuantumCircuit, **params: Any) -> dict[str, int]:
    raw = run_over_wire(BACKEND.run, make_data(circuit), **params)
    counts: dict[str, int] = build_result(raw, INFO).get_counts()
    return counts


def test_circuits_in_the_own_form_are_run_too() -> None:
    circuit = QuantumCircuit(3, 3)
    circuit.x(0)
    circuit.measure(range(3), range(3))
    assert count(circuit, shots=5) == {"001": 5}
    assert count(circuit, shots=5, method="density_matrix") == {"001": 5}
    ghz = count(make_ghz(5), shots=100, seed=1)
    assert set(ghz) == {"00000", "11111"}
    assert ghz == count(make_ghz(5), shots=100, seed=1)
    crossed = QuantumCircuit(2, 3)
    crossed.x(1)
    crossed.measure([0, 1], [2, 1])
    assert count(crossed, shots=5) == {"010": 5}


@pytest.mark.parametrize("name", list(TO_BRAKET))
def test_a_gate_does_what_the_gate_of_qiskit_does(name: str) -> None:
    standard = get_standard_gate_name_mapping()[name]
    width = standard.num_qubits
    circuit = QuantumCircuit(width)
    for index in range(width):
        circuit.ry(0.3 + index, index)
        circuit.rz(0.2 + 0.5 * index, index)
    circuit.append(type(standard)(*[0.3, 0.7, 1.1][: len(standard.params)]), range(width))
    simulation = BACKEND.States(0).initialize_simulation(qubit_count=width, shots=0, batch_size=1)
    simulation.evolve(BACKEND.translate(circuit)[0])
    found = np.asarray(simulation.state_vector).reshape([2] * width).transpose().ravel()
    assert abs(np.vdot(Statevector(circuit).data, found)) == pytest.approx(1)


def test_what_it_cannot_run_in_the_own_form_is_refused() -> None:
    again, reset = QuantumCircuit(1, 1), QuantumCircuit(1, 1)
    again.measure(0, 0)
    again.x(0)
    reset.reset(0)
    for circuit in (again, reset):
        with pytest.raises(BackendFailure) as raised:
            count(circuit, shots=1)
        assert raised.value.code == "GATE_UNSUPPORTED"
    with pytest.raises(BackendFailure) as raised:
        count(make_ghz(12), shots=1, method="density_matrix")
    assert raised.value.code == "TOO_MANY_QUBITS"


def test_it_says_that_it_reads_programs_of_braket() -> None:
    described = json.loads(json.dumps(BACKEND.describe()))
    assert FORMAT in described["configuration"]["supported_input_formats"]
    assert described["config"]["paradigm"]["qubitCount"] == 22
