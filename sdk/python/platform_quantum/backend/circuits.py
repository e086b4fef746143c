"""Circuits of a job as plain lists, which a vendor's adapter reads without any parser.

A circuit is `{"name", "shots", "qubits", "bits", "operations"}`, an operation
`[name, parameters, qubits, bits]`: names as Qiskit has them, indices, and numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .failures import GATE_UNSUPPORTED, VENDOR_ERROR, BackendFailure, describe_error
from .limits import Limits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qiskit import QuantumCircuit

    from .options import Options


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
    """The result of the job, of what was measured."""
    from .gate import gate_backend
    from .registers import pack_memory

    waiting = list(outputs)

    def hand_out(circuits: list[QuantumCircuit], _shots: int, _options: Options) -> list[Any]:
        taken, waiting[:] = waiting[: len(circuits)], waiting[len(circuits) :]
        return [
            pack_memory(output["memory"], circuit.num_clbits)
            if "memory" in output
            else output["counts"]
            for output, circuit in zip(taken, circuits, strict=True)
        ]

    run, _ = gate_backend(hand_out, **_read_profile(profile))
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
