"""Circuits of a job as plain lists, which a vendor's adapter reads without any parser.

A circuit is `{"name", "shots", "qubits", "bits", "operations"}`, an operation
`[name, parameters, qubits, bits]`: names as Qiskit has them, indices, and numbers.

What was measured of one is `{"counts": {"001": 4}}`, the first bit last, or all shots:
`{"memory": ["0x1", ...]}`, or `{"measured": ["100", ...]}` with the values of qubits at the end,
those that `qubits` lists; without it all of them in their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .failures import GATE_UNSUPPORTED, VENDOR_ERROR, BackendFailure, describe_error
from .limits import Limits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qiskit import QuantumCircuit

    from .options import Options

_INSTRUCTIONS = ("measure", "reset", "delay")
_MAX_QUBITS = 10_000
_MAX_SHOTS = 10_000_000
_DIGITS = {"0": 0, "1": 1}


def prepare(
    data: dict[str, Any], params: dict[str, Any], profile: dict[str, Any]
) -> dict[str, Any]:
    """The circuits to run; or `answer`, where there is nothing to run."""
    from .gate import gate_backend

    found: list[dict[str, Any]] = []
    named: dict[str, Any] = {}

    def collect(
        circuits: list[QuantumCircuit], shots: int, options: Options
    ) -> list[dict[str, int]]:
        named.update(options.named)
        found.extend(to_plain(circuit, shots) for circuit in circuits)
        return [{"0": shots} for _ in circuits]

    run, _ = gate_backend(collect, **_read_profile(profile))
    answer = run(data, params)
    return {"circuits": found, "options": named} if found else {"answer": answer}


def finish(
    data: dict[str, Any],
    params: dict[str, Any],
    profile: dict[str, Any],
    outputs: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """The result of the job, of what was measured.

    The profile counts for nothing but its limits: a device may have changed since the job was
    submitted, and what it has measured is what was asked for.
    """
    from .gate import gate_backend

    waiting = list(outputs)

    def hand_out(circuits: list[QuantumCircuit], _shots: int, _options: Options) -> list[Any]:
        taken, waiting[:] = waiting[: len(circuits)], waiting[len(circuits) :]
        return [_read_output(output, one) for output, one in zip(taken, circuits, strict=True)]

    run, _ = gate_backend(hand_out, **_read_profile(_relax(profile, params)))
    try:
        answer = run(data, params)
    except BackendFailure:
        raise
    except Exception as error:
        detail = f"What the vendor has measured does not fit: {describe_error(error)}"
        raise BackendFailure(VENDOR_ERROR, detail) from None
    if waiting:
        raise BackendFailure(VENDOR_ERROR, f"The vendor has measured {len(outputs)} circuits.")
    return answer


def _relax(profile: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """A device that has everything."""
    from qiskit.circuit.library import get_standard_gate_name_mapping

    limits = {"limits": profile["limits"]} if "limits" in profile else {}
    gates = [name for name in get_standard_gate_name_mapping() if name not in _INSTRUCTIONS]
    return {
        "qubits": _MAX_QUBITS,
        "gates": gates,
        "shots": [1, _MAX_SHOTS],
        "options": list(params),
        **limits,
    }


def _read_output(output: Mapping[str, Any], circuit: QuantumCircuit) -> Any:
    from .registers import pack_memory

    if "memory" in output:
        return pack_memory(output["memory"], circuit.num_clbits)
    if "measured" not in output:
        return output["counts"]
    places = read_measurements(
        [
            [
                one.operation.name,
                [],
                [circuit.find_bit(bit).index for bit in one.qubits],
                [circuit.find_bit(bit).index for bit in one.clbits],
            ]
            for one in circuit.data
        ]
    )
    listed = output.get("qubits", range(circuit.num_qubits))
    columns = {int(qubit): column for column, qubit in enumerate(listed)}
    chosen = [(1 << bit, columns[qubit]) for bit, qubit in places.items()]
    memory = [
        hex(sum(value for value, column in chosen if _DIGITS[shot[column]]))
        for shot in output["measured"]
    ]
    return pack_memory(memory, circuit.num_clbits)


def read_measurements(operations: Sequence[Sequence[Any]]) -> dict[int, int]:
    """Bits, and which qubit each tells, for vendors that measure at the end of a circuit only.

    :raises BackendFailure: GATE_UNSUPPORTED, where a qubit is used after its measurement
    """
    found: dict[int, int] = {}
    measured: set[int] = set()
    for name, _, qubits, bits in operations:
        if name == "measure":
            found[bits[0]] = qubits[0]
            measured.add(qubits[0])
        elif name != "barrier" and not measured.isdisjoint(qubits):
            detail = "The vendor measures at the end of a circuit: a qubit is used after that."
            raise BackendFailure(GATE_UNSUPPORTED, detail)
    return found


def describe(profile: dict[str, Any]) -> dict[str, Any]:
    """What the backend says of itself."""
    from .gate import gate_backend

    _, described = gate_backend(lambda *_: [], **_read_profile(profile))
    return described()


def to_plain(circuit: QuantumCircuit, shots: int) -> dict[str, Any]:
    """A circuit as lists."""
    qubits = {bit: index for index, bit in enumerate(circuit.qubits)}
    bits = {bit: index for index, bit in enumerate(circuit.clbits)}
    operations = []
    for instruction in circuit.data:
        operation = instruction.operation
        if operation.name == "delay" and getattr(operation, "unit", "dt") != "dt":
            raise BackendFailure(GATE_UNSUPPORTED, "A delay must be in units of dt.")
        try:
            parameters = [float(parameter) for parameter in operation.params]
        except (TypeError, ValueError):
            detail = f"The operation {operation.name!r} cannot be sent to the vendor."
            raise BackendFailure(GATE_UNSUPPORTED, detail) from None
        operations.append(
            [
                operation.name,
                parameters,
                [qubits[bit] for bit in instruction.qubits],
                [bits[bit] for bit in instruction.clbits],
            ]
        )
    return {
        "name": circuit.name,
        "shots": shots,
        "qubits": circuit.num_qubits,
        "bits": circuit.num_clbits,
        "operations": operations,
    }


def to_qiskit(circuit: Mapping[str, Any]) -> QuantumCircuit:
    """Such a circuit for a vendor's library that takes Qiskit's; its bits are the register `c`."""
    from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister
    from qiskit.circuit import Barrier, Delay
    from qiskit.circuit.library import get_standard_gate_name_mapping

    gates = get_standard_gate_name_mapping()
    made = QuantumCircuit(
        QuantumRegister(circuit["qubits"], "q"),
        ClassicalRegister(circuit["bits"], "c"),
        name=circuit["name"],
    )
    for name, parameters, qubits, bits in circuit["operations"]:
        if name == "barrier":
            operation: Any = Barrier(len(qubits))
        elif name == "delay":
            operation = Delay(int(parameters[0]))
        else:
            operation = gates[name].to_mutable()
            operation.params = list(parameters)
        made.append(operation, qubits, bits)
    return made


def _read_profile(profile: dict[str, Any]) -> Any:
    """JSON has lists only."""
    read = dict(profile)
    if "shots" in read:
        read["shots"] = tuple(read["shots"])
    if read.get("coupling") is not None:
        read["coupling"] = [(one, other) for one, other in read["coupling"]]
    if "limits" in read:
        read["limits"] = Limits(**read["limits"])
    return {"type": "QPU", "technology": "hardware", **read}
